import { type Duration, writeDuration } from '../../../contract/fields.ts';
import { licenseTypes } from '../../../contract/keys/licenses.ts';
import { addCalendarMonth, toInstant } from '../../../domain/time.ts';
import { bulkOptions, chosenOnly, isBulk, resultFields } from '../../bulk/options.ts';
import { change, command, customerOption, flag, many, option, productUnlessFile } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { githubOutput, setOutput } from '../../output/github.ts';
import type { CommandResult, Field } from '../../output/result.ts';
import { doneNote, type Note } from '../../output/terminal.ts';
import { count, moment } from '../../output/words.ts';
import type { Changed } from '../../request/changes.ts';
import { parseCalendarDuration } from '../../values/duration.ts';
import { parseExpiry } from '../../values/instant.ts';
import {
  type Feature,
  parseCount,
  parseFeature,
  parseLimit,
  parseMetadata,
  parsePositive,
} from '../../values/scalars.ts';

const expires = option(
  '--expires <WHEN>',
  'a day, or a time from now such as 30d, 6mo, 1y (to the end of that day, UTC), 12h; an instant; or never',
  {
    parse: parseExpiry,
    field: 'expiryDate',
  },
);

const ownFields: readonly Field[] = [{ name: 'key' }, { name: 'productId' }, { name: 'idempotencyKey' }];

export const keysCreate = command({
  about: 'Issues a licence key for a product and prints it.',
  operation: 'keys.create',
  options: {
    product: productUnlessFile,
    maxActivations: option('--max-activations <N|unlimited>', 'how many devices may use it at a time', {
      parse: parseLimit,
      field: 'usesPerKey',
    }),
    expires,
    expiresAfter: option('--expires-after <DUR>', 'let it expire this long after its first use: P1Y, 30d', {
      parse: parseCalendarDuration,
      field: 'expiresAfter',
    }),
    gracePeriod: option('--grace-period <DUR>', 'let it be used for this long after it expires, with a warning: P14D', {
      parse: parseCalendarDuration,
      field: 'gracePeriod',
    }),
    reference: option('--reference <TEXT>', 'your own name of it, such as an order number; there is one key for each', {
      field: 'reference',
    }),
    ifAbsent: flag('--if-absent', 'print the key that the reference has already, if it has one'),
    customer: customerOption('the customer it is for'),
    newCustomerName: option('--new-customer-name <NAME>', 'create its customer along with it', {
      field: 'newCustomer.name',
    }),
    newCustomerEmail: option('--new-customer-email <EMAIL>', 'the e-mail address of the new customer', {
      field: 'newCustomer.email',
    }),
    type: option('--type <TYPE>', 'what it is bound to; node-locked unless given', {
      field: 'licenseType',
      choices: licenseTypes,
    }),
    maxSessions: option('--max-sessions <N>', 'how many sessions a floating key may have', {
      parse: parseCount,
      field: 'maxConcurrentSessions',
    }),
    feature: many('--feature <NAME[=VALUE]>', 'switch a feature on, or give it a value', {
      parse: parseFeature,
      field: 'metadata.features',
    }),
    metadata: many('--metadata <NAME=VALUE>', 'keep a text with the key, such as an order number', {
      parse: parseMetadata,
      field: 'metadata',
    }),
    trial: flag('--trial', 'mark it as a trial'),
    version: option('--version-id <ID>', 'the product version it is for', { field: 'versionId' }),
    allowHost: many('--allow-host <ID>', 'let only this host, and others named so, use it', {
      field: 'allowedHosts',
    }),
    count: option('--count <N>', 'issue N keys, each once however often this is run', { parse: parsePositive }),
    ...bulkOptions,
    githubOutput,
    ...change,
  },
  fields: [...ownFields, ...chosenOnly(resultFields([{ name: 'reference' }]), ownFields)],
  ownsOutput: isBulk,
  examples: [
    ['KEY=$(lkm keys create -P "$ID" --max-activations 5 --expires 1y)', 'a key for five devices and a year'],
    ['lkm keys create -P "$ID" --expires never --customer cus_…', 'a key for a customer, for ever'],
    ['lkm keys create -P "$ID" --type floating --max-sessions 10', 'ten sessions at a time'],
    ['lkm keys create -P "$ID" --reference order-1042 --if-absent', 'one key for an order, for ever'],
    ['lkm keys create -P "$ID" --expires-after P1Y --grace-period P14D', 'a year from the first use'],
    ['lkm keys create -P "$ID" --metadata order=A-1042 --metadata plan=pro', 'a key that knows its order'],
    ['lkm keys create -P "$ID" --count 500 -o keys.csv', 'five hundred of a kind'],
    ['lkm keys create -P "$ID" --github-output key', 'for the next steps of a GitHub Actions job'],
    ['lkm keys create -P "$ID" -f orders.csv --map "Order No=reference"', 'one for each row of a file'],
  ],

  async run(values, context): Promise<CommandResult> {
    refuseContradictions(values);
    const { product, reference, ifAbsent } = values;
    if (values.count !== undefined || values.file !== undefined) {
      const { createKeysInBulk } = await import('../../bulk/operations/create-keys.ts');
      const noteEnd = (which: string) => noteDefaultEnd(which, context.io.now());
      const created = await createKeysInBulk(context, values, inputOf(values), noteEnd);
      await setOutput(values.githubOutput, created.quiet, context.io);
      return created;
    }
    if (ifAbsent && reference === undefined) throw new UsageError('--if-absent needs --reference');
    // Without a file it has been asked for.
    const productId = product ?? '';
    const issue = async (): Promise<CommandResult> => {
      const changed = await context.change((client, call) =>
        client.keys.create({ productId, ...inputOf(values) }, call),
      );
      const { answer, idempotencyKey } = changed;
      return {
        kind: 'value',
        value: answer.key,
        data: { key: answer.key, productId, idempotencyKey },
        quiet: [answer.key],
        secrets: [answer.key],
        secret: true,
        idempotencyKey,
        notes: describe(changed, values, context.io.now()),
      };
    };
    const { orExisting } = await import('./existing-key.ts');
    const isOnce = ifAbsent && reference !== undefined;
    const result = await (isOnce ? orExisting(issue, context, { product: productId, reference }) : issue());
    await setOutput(values.githubOutput, result.quiet, context.io, result.idempotencyKey);
    return result;
  },
});

function refuseContradictions(values: Given): void {
  const { customer, newCustomerName, newCustomerEmail, expires, expiresAfter } = values;
  if (customer !== undefined && newCustomerName !== undefined) {
    throw new UsageError('--customer and --new-customer-name name two customers; give one of them');
  }
  if (newCustomerEmail !== undefined && newCustomerName === undefined) {
    throw new UsageError('--new-customer-email needs --new-customer-name');
  }
  if (expires !== undefined && expiresAfter !== undefined) {
    throw new UsageError('--expires and --expires-after contradict each other; give one of them');
  }
}

/** What the options say of a key. */
interface Given extends GivenMetadata, Limits {
  readonly gracePeriod: Duration | undefined;
  readonly reference: string | undefined;
  readonly customer: string | undefined;
  readonly newCustomerName: string | undefined;
  readonly newCustomerEmail: string | undefined;
  readonly type: (typeof licenseTypes)[number] | undefined;
  readonly maxSessions: number | undefined;
  readonly allowHost: string[] | undefined;
  readonly version: string | undefined;
}

/** The request without its product. */
function inputOf(values: Given) {
  const { newCustomerName: name, newCustomerEmail: email } = values;
  return {
    usesPerKey: values.maxActivations ?? undefined,
    expiryDate: values.expires,
    expiresAfter: values.expiresAfter,
    gracePeriod: values.gracePeriod,
    reference: values.reference,
    ...(name === undefined ? { customerId: values.customer } : { newCustomer: { name, email } }),
    licenseType: values.type,
    maxConcurrentSessions: values.maxSessions,
    allowedHosts: values.allowHost,
    metadata: metadataOf(values),
    versionId: values.version,
  };
}

interface GivenMetadata {
  readonly feature: readonly Feature[] | undefined;
  readonly metadata: ReturnType<typeof parseMetadata>[] | undefined;
  readonly trial: boolean;
}

/** Undefined when nothing of it is given, so that the request says nothing of it. */
function metadataOf({ feature, metadata, trial }: GivenMetadata) {
  if (feature === undefined && metadata === undefined && !trial) return undefined;
  const features = feature && Object.fromEntries(feature);
  return { ...Object.fromEntries(metadata ?? []), features, is_trial: trial || undefined };
}

function describe(
  changed: Pick<Changed<unknown>, 'replayed'>,
  { maxActivations, expires, expiresAfter }: Limits,
  now: number,
): Note[] {
  const seats = maxActivations == null ? 'unlimited activations' : count(maxActivations, 'activation');
  const end = expiresAfter ? `lasts ${writeDuration(expiresAfter)} from its first use` : describeEnd(expires);
  const done = doneNote(changed, `created · ${seats}${end === null ? '' : ` · ${end}`}`);
  return end !== null || changed.replayed ? [done] : [done, noteDefaultEnd('no --expires given', now)];
}

function noteDefaultEnd(which: string, now: number): Note {
  const month = moment(addCalendarMonth(toInstant(now)));
  return { tone: 'hint', text: `${which}: the service sets one month, to ${month}` };
}

interface Limits {
  readonly maxActivations?: number | null | undefined;
  readonly expires?: string | null | undefined;
  readonly expiresAfter?: Duration | undefined;
}

/** Null when no end is given. */
function describeEnd(expires: string | null | undefined): string | null {
  if (expires === undefined) return null;
  return expires === null ? 'never expires' : `expires ${moment(expires)}`;
}
