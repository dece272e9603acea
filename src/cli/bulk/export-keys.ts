import type { Client } from '../../client/client.ts';
import type { Customer } from '../../contract/customers.ts';
import type { Device } from '../../contract/keys/licenses.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import { UsageError } from '../failure/errors.ts';
import { unlessRefused } from '../request/look-ups.ts';
import { guard } from '../values/spreadsheet.ts';
import { trimmed } from '../values/text.ts';

interface Export {
  readonly productId: string | undefined;
  readonly customerId: string | undefined;
  readonly form: 'csv' | 'json' | 'jsonl';
}

/** Keys per part: their devices and customers are requested together. */
const PART = 16;

/**
 * Yields every key in the form that `keys import` reads, newest first. `beforePart` gets the keys of each part before it is
 * yielded. CSV reads the list twice, first for the names of metadata, which become columns.
 */
export async function* exportKeys(
  client: Client,
  { productId, customerId, form }: Export,
  beforePart: (keys: readonly string[]) => Promise<void>,
): AsyncGenerator<string> {
  const keys = () => client.keys.list({ productId, customerId });
  const ownerOf = rememberOwners(client);
  const { start, between, end, write } = form === 'csv' ? await csvOf(keys()) : forms[form];
  let before = start;
  for await (const part of inParts(keys())) {
    const found = await Promise.all(part.map((license) => complete(client, license, ownerOf)));
    const left = found.filter((key) => key !== null);
    // All keys of the part were deleted meanwhile.
    if (left.length === 0) continue;
    await beforePart(left.map(({ key }) => String(key)));
    yield before + left.map(write).join(between);
    before = between;
  }
  // A token that must not export has produced no output by now.
  yield before === start ? start + end : end;
}

const forms = {
  json: { start: '[\n', between: ',\n', end: '\n]\n', write: (key: ExportedKey) => JSON.stringify(key) },
  jsonl: { start: '', between: '', end: '', write: (key: ExportedKey) => `${JSON.stringify(key)}\n` },
};

async function* inParts(keys: AsyncIterable<ListedLicense>): AsyncGenerator<readonly ListedLicense[]> {
  let part: ListedLicense[] = [];
  for await (const key of keys) {
    if (part.push(key) < PART) continue;
    yield part;
    part = [];
  }
  yield part;
}

type Owner = Pick<Customer, 'id' | 'name' | 'email' | 'active'>;

type ExportedKey = Readonly<Record<string, unknown>>;

/** A key with devices and customer; null if it was deleted meanwhile. */
async function complete(
  client: Client,
  license: ListedLicense,
  ownerOf: (id: string) => Promise<Owner | null>,
): Promise<ExportedKey | null> {
  const { key, productId, customerId, activations } = license;
  if (isMaskedKey(key)) {
    throw new UsageError('this token sees keys masked, and a masked key cannot be imported', [
      'Export with an admin token, or a token with license:reveal.',
    ]);
  }
  if (activations === 0) return exportedKey(license, customerId == null ? null : await ownerOf(customerId), []);
  const found = await unlessRefused('licenseNotFound', client.keys.get({ productId, licenseKey: key }));
  return found && exportedKey(license, found.customer, found.license.devices);
}

const MAX_OWNERS = 10_000;

/** Requests each customer once, unless too many others were requested since. */
function rememberOwners(client: Client): (id: string) => Promise<Owner | null> {
  const known = new Map<string, Promise<Owner | null>>();
  return (customerId) => {
    if (known.size > MAX_OWNERS) known.clear();
    const owner = known.get(customerId) ?? unlessRefused('customerNotFound', client.customers.get({ customerId }));
    known.set(customerId, owner);
    return owner;
  };
}

/**
 * The properties of an exported key. In CSV, columns for members of metadata stand before `devices`, other metadata at the
 * end.
 */
const names = [
  ...['productId', 'key', 'maxActivations', 'expirationDate', 'customerEmail', 'customerName', 'createdAt'],
  ...['metadata', 'devices', 'id', 'customerId', 'customerActive', 'reference', 'expiresAfter', 'gracePeriod'],
  ...['licenseType', 'maxConcurrentSessions', 'heartbeatInterval', 'sessionLeaseDuration', 'allowedHosts'],
  ...['customerCanSelfReset', 'vendorDisabled', 'version', 'trial', 'features', 'revokedAt'],
  ...['revocationReason', 'plan', 'fingerprintMatch', 'renewalDay'],
] as const;

/** Devices are sorted, so that the same key gives the same text. */
function exportedKey(license: ListedLicense, owner: Owner | null, devices: readonly Device[]): ExportedKey {
  const { features, is_trial: trial, ...metadata } = license.metadata ?? { features: {}, is_trial: false };
  const place = ({ activationTime, hostId }: Device) => `${activationTime} ${hostId}`;
  const properties: ExportedKey = {
    ...license,
    customerEmail: owner?.email,
    customerName: owner?.name,
    customerId: owner?.id,
    customerActive: owner?.active,
    metadata,
    trial,
    features,
    devices: devices
      .toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
      .map(({ hostId, deviceTag, ipAddress, activationTime }) => ({ hostId, deviceTag, ipAddress, activationTime })),
    version: license.version?.version,
    plan: license.plan?.name,
  };
  return Object.fromEntries(names.map((name) => [name, properties[name] ?? null]));
}

/** Members of metadata that are text become columns. */
async function csvOf(keys: AsyncIterable<ListedLicense>) {
  const { stringify } = await import('csv-stringify/sync');
  const found = new Set<string>();
  for await (const { metadata = {} } of keys) for (const name of textsOf(metadata).keys()) found.add(name);
  const own = [...found].sort();
  const middle = names.indexOf('metadata');
  const [before, after] = [names.slice(0, middle), names.slice(middle + 1)];
  return {
    ...{ between: '', end: '' },
    start: stringify([[...before, ...own.map((name) => guard(`metadata.${name}`)), ...after, 'metadata']]),
    write(key: ExportedKey): string {
      const metadata = Object(key.metadata);
      const texts = textsOf(metadata);
      const others = Object.entries(metadata).filter(([name]) => !texts.has(name) || !found.has(name));
      const values = [
        ...before.map((name) => key[name]),
        ...own.map((name) => texts.get(name)),
        ...after.map((name) => key[name]),
        Object.fromEntries(others),
      ];
      // Blanks at the end of an unquoted cell would be lost.
      return stringify([values.map(cell)], { quoted_match: /\s$/ });
    },
  };
}

/** Free members of metadata that survive a CSV cell: an empty text reads as none, and a number as its digits. */
function textsOf(metadata: object): ReadonlyMap<string, unknown> {
  const isText = ([name, value]: readonly [string, unknown]) =>
    typeof value === 'string' && value !== '' && trimmed(name) === name && name !== 'features' && name !== 'is_trial';
  return new Map(Object.entries(metadata).filter(isText));
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return guard(String(value));
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
