import { dirname } from 'node:path';
import { createClient } from '../../client/client.ts';
import type { Customer } from '../../contract/customers.ts';
import type { Product } from '../../contract/products.ts';
import { type Verdict, verifyLicenseFile } from '../../domain/license-file/verify.ts';
import { toInstant } from '../../domain/time.ts';
import { writeAtomically } from '../config/files.ts';
import { withoutPassword } from '../config/location.ts';
import type { Io } from '../io.ts';
import type { View } from '../output/result.ts';
import { renderRecord, renderTable } from '../output/table.ts';
import { asTyped } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { inProcessUrl, openInstance } from '../request/connection.ts';
import { parseExpiry } from '../values/instant.ts';
import { deviceFields } from './devices-and-sessions.ts';
import { type Lookup, licenseFields, withStatus } from './keys/get.ts';

const HOST = 'build-01';
const OTHER_HOST = 'laptop-9';
const SLOTS = 3;

/** What the tour did, step by step. */
interface Tour {
  /** Without a password. */
  readonly db: string;
  readonly file: string;
  readonly product: Product;
  readonly customer: Customer;
  readonly key: string;
  /** What the file proves to the device it was made for, and to another. */
  readonly verdicts: { readonly [HOST]: Verdict; readonly [OTHER_HOST]: Verdict };
  /** The key as it was issued, with a file signed, and with its device freed. */
  readonly lookups: { readonly issued: Lookup; readonly signed: Lookup; readonly freed: Lookup };
}

/** Runs the service in this process on `db` and calls it as any command would. */
export async function takeTour({ db, file }: { db: string; file: string }, io: Io): Promise<Tour> {
  const instance = await openInstance(db, io, { create: true });
  try {
    const { fetch, ownerToken: token } = instance;
    const client = createClient({ baseUrl: inProcessUrl, fetch, token, userAgent: `lkm/${io.version}` });
    const product = await client.products.create({ name: 'Engine Pro' });
    const customer = await client.customers.create({ name: 'Ada Ltd', email: emailFor(file) });
    const { key } = await client.keys.create({
      productId: product.id,
      customerId: customer.id,
      usesPerKey: SLOTS,
      expiryDate: parseExpiry('1y', io),
    });
    const address = { productId: product.id, licenseKey: key };
    const issued = await client.keys.get(address);
    const document = await client.keys.sign({ ...address, hostId: HOST });
    writeAtomically(file, document.file, 0o600, io);
    const { keys } = await client.signingKeys.jwks({ account: instance.accountId });
    const now = toInstant(io.now());
    const verify = (hostId: string): Verdict => verifyLicenseFile(document.file, { keys, now, hostId }).verdict;
    const signed = await client.keys.get(address);
    await client.keys.deactivate({ ...address, hostId: HOST });
    const freed = await client.keys.get(address);
    const verdicts = { [HOST]: verify(HOST), [OTHER_HOST]: verify(OTHER_HOST) };
    return { db: withoutPassword(db), file, product, customer, key, verdicts, lookups: { issued, signed, freed } };
  } finally {
    await instance.close();
  }
}

/** Unique, so that the tour can be taken twice on one database. */
const emailFor = (file: string): string => `ada-${dirname(file).slice(-4)}@example.com`;

/** A step of the tour: what it is about, and command lines with what they print. */
interface Step {
  readonly title: string;
  readonly lines: readonly (readonly [commandLine: string, ...results: string[]])[];
}

/** The tour as a text that reads well at 80 columns, and whose commands can be typed. */
export async function renderTour(tour: Tour, view: View, env: Io['env']): Promise<string> {
  const { paint } = view;
  const steps = await stepsOf(tour, view, env);
  return [
    `${paint.bold('lkm quickstart')}${paint.dim('  real requests to a service that runs in this process')}\n`,
    ...steps.map((step, at) => renderStep(step, String(at + 1).padStart(2), view, env)),
    nextPage(tour, view, env),
  ].join('\n');
}

/** The steps as they can be typed anywhere, on a database of their own; below each line is what it printed here. */
async function stepsOf(tour: Tour, view: View, env: Io['env']): Promise<Step[]> {
  const { paint } = view;
  const { product, customer, key, verdicts, lookups } = tour;
  return [
    {
      title: 'choose a database file',
      lines: [
        ...(env.LKM_BASE_URL ? [['unset LKM_BASE_URL'] as const] : []),
        ['DIR=$(mktemp -d)'],
        ['export LKM_DB="$DIR/lkm.db"'],
      ],
    },
    {
      title: 'create a product and a customer',
      lines: [
        [`export LKM_PRODUCT=$(lkm products create --create \\\n        --name "${product.name}" -q)`, product.id],
        [
          `CUSTOMER=$(lkm customers create --name "${customer.name}" \\\n        --email ${customer.email} -q)`,
          customer.id,
        ],
      ],
    },
    {
      title: 'issue a licence key for three devices and a year',
      lines: [
        [
          `KEY=$(lkm keys create --customer "$CUSTOMER" \\\n        --max-activations ${SLOTS} --expires 1y)`,
          paint.bold(key),
        ],
        ['lkm keys get "$KEY"', ...recordLines(lookups.issued, view)],
      ],
    },
    {
      title: 'sign an offline licence file for one device',
      lines: [[`lkm keys sign "$KEY" --host-id ${HOST} \\\n        -o "$DIR/${HOST}.lic"`, `wrote ${tour.file}`]],
    },
    {
      title: 'verify it with the public key alone: it is valid on that device only',
      lines: [
        [`lkm keys verify "$DIR/${HOST}.lic" --host-id ${HOST}`, paint.green(verdicts[HOST])],
        [`lkm keys verify "$DIR/${HOST}.lic" --host-id ${OTHER_HOST}`, paint.red(verdicts[OTHER_HOST])],
      ],
    },
    {
      title: 'see who holds a slot, and free it',
      lines: [
        ['lkm keys get "$KEY"', ...(await deviceLines(lookups.signed, view))],
        [`lkm keys deactivate "$KEY" --host-id ${HOST}`, `freed ${HOST}`],
      ],
    },
  ];
}

/** The part of `keys get` that a newcomer asks for. */
function recordLines(lookup: Lookup, view: View): string[] {
  const shown = ['status', 'activations', 'expirationDate', 'customer', 'customerId'];
  const fields = licenseFields.filter(({ name }) => shown.includes(name));
  return linesOf(renderRecord(fields, withStatus(lookup, view.now), view));
}

async function deviceLines({ license }: Lookup, view: View): Promise<string[]> {
  const fields = licenseFields.filter(({ name }) => name === 'activations');
  const { text: devices } = renderTable(deviceFields, license.devices, view);
  return [...linesOf(renderRecord(fields, { license }, view)), ...linesOf(devices)];
}

const linesOf = (text: string): string[] => text.trimEnd().split('\n');

function nextPage({ db: location, product, key }: Tour, view: View, env: Io['env']): string {
  const { paint } = view;
  const db = quote(location);
  const next: Step[] = [
    {
      title: 'see the key again, or issue another',
      lines: [
        [`lkm keys get ${key} \\\n        -P ${product.id} \\\n        --db ${db}`],
        [`lkm keys create -P ${product.id} \\\n        --db ${db}`],
      ],
    },
    {
      title: 'serve the same database over HTTP, then use it from another terminal',
      lines: [[`lkm serve --db ${db}`], ['lkm -p local products list']],
    },
  ];
  return `${paint.bold('what to type next')}\n\n${next.map((step) => renderStep(step, '  ', view, env)).join('\n')}`;
}

function renderStep({ title, lines }: Step, number: string, { paint }: View, env: Io['env']): string {
  const shown = lines.flatMap(([line, ...results]) => [
    `    ${paint.dim('$')} ${paint.cyan(asTyped(line, env))}\n`,
    ...results.map((result) => `      ${result}\n`),
  ]);
  return `${paint.bold(`${number}  ${title}`)}\n${shown.join('')}`;
}
