import { asTyped } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { deviceFields, type Lookup, licenseFields } from '../output/resource-fields.ts';
import type { Field, View } from '../output/result.ts';
import { renderRecord, renderTable } from '../output/table.ts';
import { quote } from '../request/rerun.ts';
import { HOST, OTHER_HOST, SLOTS, type Tour } from './tour.ts';

/** A step of the tour: what it is about, and command lines with what they print. */
interface Step {
  readonly title: string;
  readonly lines: readonly (readonly [commandLine: string, ...results: string[]])[];
}

/** The tour as a page that reads well at 80 columns, and whose commands can be typed. */
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
      title: 'verify it with the public key alone: it counts on that device only',
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
  return linesOf(renderRecord(fields, { ...lookup }, view));
}

async function deviceLines({ license }: Lookup, view: View): Promise<string[]> {
  const fields = licenseFields.filter(({ name }) => name === 'activations');
  const { text: devices } = await renderTable(deviceFields as readonly Field[], license.devices, view);
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
      title: 'serve the same database over HTTP, with a token for it',
      lines: [
        [`export LKM_TOKEN=$(lkm tokens create --kind admin \\\n        --name me --db ${db})`],
        [`lkm serve --db ${db}`],
      ],
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
