import type { Client } from '../../client/client.ts';
import { MIN_LICENSE_KEY } from '../../contract/limits.ts';
import { emailKey } from '../../domain/email.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import type { CommandContext } from '../context.ts';
import { UsageError, verdictExitCodes } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import { count } from '../output/words.ts';
import { unlessRefused } from '../request/look-ups.ts';
import { openLimiter } from './concurrency-limiter.ts';
import type { Body } from './operation.ts';
import { importKeys } from './operations/import-keys.ts';
import { readRows } from './reading/read-rows.ts';
import type { BulkRequest } from './request.ts';

type KeyResponse = Awaited<ReturnType<Client['keys']['get']>>;

interface Difference extends Record<string, unknown> {
  readonly key: string;
  readonly field: string;
  readonly file: unknown;
  readonly service: unknown;
}

const MAX_AT_ONCE = 32;

/** Stands for the product in rows without one. */
const ANY_PRODUCT = '*';

/**
 * Compares the keys of files, read as `keys import` reads them, with the keys of the service. `both` also reports keys that
 * only the service has.
 */
export async function compareKeys(
  context: CommandContext,
  request: Omit<BulkRequest, 'defaults' | 'mode'>,
  { productId, both }: { readonly productId: string | undefined; readonly both: boolean },
): Promise<CommandResult> {
  const { warningsOf: _, ...operation } = importKeys;
  const read = await readRows(context, operation, {
    ...request,
    // Without it, keys with more devices than slots would be refused.
    defaults: { productId: productId ?? ANY_PRODUCT, force: true },
    // A missing product is a difference.
    mode: { createProducts: true },
  });
  if (read.problems.count > 0) throw read.problems.error(String(read.file), importKeys.columns);
  for (const text of read.warnings) await context.say({ tone: 'warning', text });
  const client = await context.client();
  const found = new Set<string>();
  const differences: Difference[][] = [];
  await openLimiter(MAX_AT_ONCE, context.io).each(read.rows.entries(), async ([at, { body }]) => {
    const key = String(body.key);
    const there = await findKey(client, key);
    if (there !== null) found.add(there.license.productId);
    differences[at] =
      there === null
        ? [{ key, field: 'key', file: 'is there', service: 'is missing' }]
        : differencesOf(key, sidesOf(body, there));
  });
  const only = productId === undefined ? found : [productId];
  const more = both ? await missingInFile(client, only, new Set(read.rows.map(({ body }) => String(body.key)))) : [];
  const rows = [...differences.flat(), ...more];
  const keys = new Set(rows.map(({ key }) => key)).size;
  const compared = `${count(read.rows.length, 'key')} compared`;
  return {
    kind: 'rows',
    rows,
    data: rows,
    quiet: [...new Set(rows.map(({ key }) => key))],
    empty: `${compared}: all are the same`,
    ...(rows.length > 0 && {
      notes: [{ tone: 'warning', text: `${compared}: ${keys} ${keys === 1 ? 'differs' : 'differ'}` }],
      exitCode: verdictExitCodes.negative,
    }),
  };
}

async function findKey(client: Client, licenseKey: string): Promise<KeyResponse | null> {
  // The service refuses a short text as a parameter.
  const found = unlessRefused('licenseNotFound', client.keys.get({ licenseKey }));
  return licenseKey.length < MIN_LICENSE_KEY ? unlessRefused('invalidParams', found) : found;
}

type Sides = Readonly<Record<string, readonly [file: unknown, service: unknown]>>;

const differencesOf = (key: string, sides: Sides): Difference[] =>
  Object.entries(sides).flatMap(([field, [file, service]]) =>
    file === service ? [] : [{ key, field, file, service }],
  );

/** The compared values of a key in the file and in the service. */
function sidesOf(body: Body, { license, customer }: KeyResponse): Sides {
  const { expiresAfter = null, expirationDate = null, vendorDisabled, revokedAt, productId } = body;
  const isNamed = productId === ANY_PRODUCT || license.productName?.toLowerCase() === String(productId).toLowerCase();
  // The first use has set the expiry.
  const isStarted = expirationDate === null && expiresAfter !== null;
  return {
    product: [isNamed ? license.productId : productId, license.productId],
    maxActivations: [body.maxActivations ?? null, license.maxActivations],
    expirationDate: [isStarted ? license.expirationDate : expirationDate, license.expirationDate],
    expiresAfter: [expiresAfter, license.expiresAfter ?? null],
    state: [stateOf(revokedAt, vendorDisabled), stateOf(license.revokedAt, license.vendorDisabled)],
    customer: customersOf(Object(body.customer), customer),
    devices: [hostsOf(body.devices), hostsOf(license.devices)],
  };
}

const stateOf = (revokedAt: unknown, isBlocked: unknown): string =>
  revokedAt != null ? 'revoked' : isBlocked === true ? 'blocked' : 'usable';

/** Compares addresses, else names, else ids, depending on what the file contains. */
function customersOf(given: Readonly<Record<string, unknown>>, owner: KeyResponse['customer']): Sides[string] {
  const address = (email: unknown) => (email == null ? null : emailKey(String(email)));
  if (given.email !== undefined) return [address(given.email), address(owner?.email)];
  return given.name === undefined ? [given.id ?? null, owner?.id ?? null] : [given.name, owner?.name ?? null];
}

const hostsOf = (devices: unknown): string =>
  (Array.isArray(devices) ? devices : [])
    .map(({ hostId }) => String(hostId))
    .toSorted()
    .join(', ');

async function missingInFile(client: Client, products: Iterable<string>, keys: ReadonlySet<string>) {
  const missing: Difference[] = [];
  for (const productId of products) {
    for await (const { key } of client.keys.list({ productId })) {
      if (isMaskedKey(key)) {
        throw new UsageError('this token sees keys masked: --both needs license:reveal');
      }
      if (!keys.has(key)) missing.push({ key, field: 'key', file: 'is missing', service: 'is there' });
    }
  }
  return missing;
}
