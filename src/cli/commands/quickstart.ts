import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { verifyLicenseFile } from '../../domain/license-file/verify.ts';
import { toInstant } from '../../domain/time.ts';
import { command } from '../command.ts';
import { writeAtomically } from '../config/files.ts';
import { locate, withoutPassword } from '../config/location.ts';
import type { CommandContext } from '../context.ts';
import type { Io } from '../io.ts';
import type { View } from '../output/result.ts';
import { renderRecord, renderTable } from '../output/table.ts';
import { asTyped } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { asOwnerOf } from '../request/connection.ts';
import { parseExpiry } from '../values/instant.ts';
import { deviceFields } from './devices.ts';
import { licenseFields, withStatus } from './keys/get.ts';

const HOST = 'build-01';
const OTHER_HOST = 'laptop-9';
const SLOTS = 3;

export const quickstart = command({
  about:
    'Takes the whole tour in a second, without a server: a product, a customer, a key, a signed licence file, ' +
    'its verification, and the device freed again. All of it stays in a new database file, or in that of --db.',
  fields: ['db', 'product', 'customer', 'key', 'file', 'verdicts'],
  examples: [
    ['lkm quickstart', 'on a new database'],
    ['lkm quickstart --db ./lkm.db', 'on a file of your choice'],
  ],

  async run(_, context) {
    const { io, flags } = context;
    const folder = join(io.tempDir, `lkm-quickstart-${io.uuid().slice(0, 8)}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const location = flags.db === undefined ? join(folder, 'lkm.db') : locate(flags.db, io);
    const tour = await takeTour(location, join(folder, `${HOST}.lic`), context);
    const { issued: _issued, signed: _signed, ...data } = tour;
    return {
      kind: 'text',
      draw: (view) => drawTour(tour, view, io.env),
      rows: [{ ...data, product: tour.product.id, customer: tour.customer.id }],
      data,
      quiet: [tour.key],
      secret: true,
    };
  },
});

type Tour = Awaited<ReturnType<typeof takeTour>>;

/** Runs the service in this process. */
function takeTour(location: string, file: string, context: CommandContext) {
  const { io } = context;
  return asOwnerOf(location, context, { create: true }, async (client, { accountId }) => {
    const product = await client.products.create({ name: 'Engine Pro' });
    // Unique: the tour may be taken twice on one database.
    const email = `ada-${dirname(file).slice(-4)}@example.com`;
    const customer = await client.customers.create({ name: 'Ada Ltd', email });
    const owner = { productId: product.id, customerId: customer.id };
    const { key } = await client.keys.create({ ...owner, usesPerKey: SLOTS, expiryDate: parseExpiry('1y', io) });
    const address = { productId: product.id, licenseKey: key };
    const issued = await client.keys.get(address);
    const document = await client.keys.sign({ ...address, hostId: HOST });
    writeAtomically(file, document.file, 0o600, io);
    const { keys } = await client.signingKeys.jwks({ account: accountId });
    const now = toInstant(io.now());
    const verify = (hostId: string) => verifyLicenseFile(document.file, { keys, now, hostId }).verdict;
    const signed = await client.keys.get(address);
    await client.keys.deactivate({ ...address, hostId: HOST });
    const verdicts = { [HOST]: verify(HOST), [OTHER_HOST]: verify(OTHER_HOST) };
    return { db: withoutPassword(location), product, customer, key, file, verdicts, issued, signed };
  });
}

/** A title, and command lines with their output. */
type Step = readonly [title: string, ...lines: (readonly [commandLine: string, ...results: string[]])[]];

/** The tour within 80 columns: commands that work anywhere, each with its output here. */
function drawTour({ db, file, product, customer, key, verdicts, issued, signed }: Tour, view: View, env: Io['env']) {
  const { paint } = view;
  const shown = ['status', 'activations', 'expirationDate', 'customer', 'customerId'];
  const record = (names: readonly string[], lookup: Tour['issued']) => {
    const fields = licenseFields.filter(({ name }) => names.includes(name));
    return linesOf(renderRecord(fields, withStatus(lookup, view.now), view));
  };
  const devices = linesOf(renderTable(deviceFields, signed.license.devices, view));
  const steps: Step[] = [
    [
      'choose a database file',
      ...(env.LKM_BASE_URL ? [['unset LKM_BASE_URL'] as const] : []),
      ['DIR=$(mktemp -d)'],
      ['export LKM_DB="$DIR/lkm.db"'],
    ],
    [
      'create a product and a customer',
      [`export LKM_PRODUCT=$(lkm products create --create \\\n        --name "${product.name}" -q)`, product.id],
      [
        `CUSTOMER=$(lkm customers create --name "${customer.name}" \\\n        --email ${customer.email} -q)`,
        customer.id,
      ],
    ],
    [
      'issue a licence key for three devices and a year',
      [
        `KEY=$(lkm keys create --customer "$CUSTOMER" \\\n        --max-activations ${SLOTS} --expires 1y)`,
        paint.bold(key),
      ],
      ['lkm keys get "$KEY"', ...record(shown, issued)],
    ],
    [
      'sign an offline licence file for one device',
      [`lkm keys sign "$KEY" --host-id ${HOST} \\\n        -o "$DIR/${HOST}.lic"`, `wrote ${file}`],
    ],
    [
      'verify it with the public key alone: it is valid on that device only',
      [`lkm keys verify "$DIR/${HOST}.lic" --host-id ${HOST}`, paint.green(verdicts[HOST])],
      [`lkm keys verify "$DIR/${HOST}.lic" --host-id ${OTHER_HOST}`, paint.red(verdicts[OTHER_HOST])],
    ],
    [
      'see who holds a slot, and free it',
      ['lkm keys get "$KEY"', ...record(['activations'], signed), ...devices],
      [`lkm keys deactivate "$KEY" --host-id ${HOST}`, `freed ${HOST}`],
    ],
  ];
  const next: Step[] = [
    [
      'see the key again, or issue another',
      [`lkm keys get ${key} \\\n        -P ${product.id} \\\n        --db ${quote(db)}`],
      [`lkm keys create -P ${product.id} \\\n        --db ${quote(db)}`],
    ],
    [
      'serve the same database over HTTP, then use it from another terminal',
      [`lkm serve --db ${quote(db)}`],
      ['lkm -p local products list'],
    ],
  ];
  const draw = ([title, ...lines]: Step, number: string): string => {
    const drawn = lines.flatMap(([line, ...results]) => [
      `    ${paint.dim('$')} ${paint.cyan(asTyped(line, env))}\n`,
      ...results.map((result) => `      ${result}\n`),
    ]);
    return `${paint.bold(`${number}  ${title}`)}\n${drawn.join('')}`;
  };
  return [
    `${paint.bold('lkm quickstart')}${paint.dim('  real requests to a service that runs in this process')}\n`,
    ...steps.map((step, at) => draw(step, String(at + 1).padStart(2))),
    `${paint.bold('what to type next')}\n`,
    ...next.map((step) => draw(step, '  ')),
  ].join('\n');
}

const linesOf = (text: string): string[] => text.trimEnd().split('\n');
