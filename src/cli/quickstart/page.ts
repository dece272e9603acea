import { basename, dirname } from 'node:path';
import { isPostgres } from '../config/location.ts';
import { asTyped } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { deviceFields, type Lookup, licenseFields } from '../output/license-fields.ts';
import { renderRecord } from '../output/record.ts';
import type { Field } from '../output/result.ts';
import { renderTable } from '../output/table.ts';
import type { View } from '../output/view.ts';
import { HOST, OTHER_HOST, SLOTS, type Tour } from './tour.ts';

/** A step of the tour: what it is about, and command lines with what they print. */
interface Step {
  readonly title: string;
  readonly lines: readonly (readonly [commandLine: string, ...results: string[]])[];
}

/** The tour as a page that reads well at 80 columns, and whose commands can be typed. */
export async function renderTour(tour: Tour, view: View, env: Io['env']): Promise<string> {
  const { paint } = view;
  const steps = await stepsOf(tour, view);
  return [
    `${paint.bold('lkm quickstart')}${paint.dim('  real requests to a service that runs in this process')}\n`,
    ...steps.map((step, at) => renderStep(step, String(at + 1).padStart(2), view, env)),
    nextPage(tour, view, env),
  ].join('\n');
}

async function stepsOf(tour: Tour, view: View): Promise<Step[]> {
  const { paint } = view;
  const { product, customer, key, verdicts, lookups } = tour;
  const folder = dirname(tour.file);
  const file = basename(tour.file);
  const db = !isPostgres(tour.db) && dirname(tour.db) === folder ? basename(tour.db) : tour.db;
  return [
    { title: 'choose a database file', lines: [[`cd ${folder}`], [`export LKM_DB=${db}`]] },
    {
      title: 'create a product and a customer',
      lines: [
        [`export LKM_PRODUCT=$(lkm products create --name "${product.name}" -q)`, product.id],
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
      lines: [[`lkm keys sign "$KEY" --host-id ${HOST} -o ${file}`, `wrote ${file}`]],
    },
    {
      title: 'verify it with the public key alone: it counts on that device only',
      lines: [
        [`lkm keys verify ${file} --host-id ${HOST}`, paint.green(verdicts[HOST])],
        [`lkm keys verify ${file} --host-id ${OTHER_HOST}`, paint.red(verdicts[OTHER_HOST])],
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
  const devices = await renderTable(deviceFields as readonly Field[], license.devices, view);
  return [...linesOf(renderRecord(fields, { license }, view)), ...linesOf(devices)];
}

const linesOf = (text: string): string[] => text.trimEnd().split('\n');

function nextPage({ db, product, key }: Tour, view: View, env: Io['env']): string {
  const { paint } = view;
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
        [`export LKM_TOKEN=$(lkm tokens create --kind admin --name me \\\n        --db ${db})`],
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
