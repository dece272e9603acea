import { licenseTypes } from '../../../contract/licenses.ts';
import { addCalendarMonth, toInstant } from '../../../domain/time.ts';
import { change, command, flag, many, option, product } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { doneNote, type Note } from '../../output/terminal.ts';
import { count, moment } from '../../output/words.ts';
import type { Changed } from '../../request/changes.ts';
import { type Feature, parseCount, parseFeature, parseLimit, parseMetadata } from '../../values/scalars.ts';
import { parseExpiry } from '../../values/time.ts';

const expires = option(
  '--expires <WHEN>',
  'a day, or a time from now such as 30d, 6mo, 1y (to the end of that day, UTC), 12h; an instant; or never',
  {
    parse: parseExpiry,
    field: 'expiryDate',
  },
);

export const keysCreate = command({
  path: 'keys create',
  about: 'Issues a licence key for a product and prints it.',
  operation: 'keys.create',
  arguments: {},
  options: {
    product,
    maxActivations: option('--max-activations <N|unlimited>', 'how many devices may use it at a time', {
      parse: parseLimit,
      field: 'usesPerKey',
    }),
    expires,
    customer: option('--customer <ID>', 'the customer it is for', { field: 'customerId' }),
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
    allowHost: many('--allow-host <ID>', 'let only this host, and others named so, use it', {
      field: 'allowedHosts',
    }),
    ...change,
  },
  fields: [{ name: 'key' }, { name: 'productId' }, { name: 'idempotencyKey' }],
  examples: [
    ['KEY=$(lkm keys create -P "$ID" --max-activations 5 --expires 1y)', 'a key for five devices and a year'],
    ['lkm keys create -P "$ID" --expires never --customer cus_…', 'a key for a customer, for ever'],
    ['lkm keys create -P "$ID" --type floating --max-sessions 10', 'ten sessions at a time'],
    ['lkm keys create -P "$ID" --metadata order=A-1042 --metadata plan=pro', 'a key that knows its order'],
  ],

  async run(values, context) {
    const { product, customer, newCustomerName, newCustomerEmail, allowHost } = values;
    if (customer !== undefined && newCustomerName !== undefined) {
      throw new UsageError('--customer and --new-customer-name name two customers; give one of them');
    }
    if (newCustomerEmail !== undefined && newCustomerName === undefined) {
      throw new UsageError('--new-customer-email needs --new-customer-name');
    }
    const newCustomer = newCustomerName === undefined ? undefined : { name: newCustomerName, email: newCustomerEmail };
    const changed = await context.change((client, call) =>
      client.keys.create(
        {
          productId: product,
          usesPerKey: values.maxActivations ?? undefined,
          expiryDate: values.expires,
          customerId: customer,
          newCustomer,
          licenseType: values.type,
          maxConcurrentSessions: values.maxSessions,
          allowedHosts: allowHost,
          metadata: metadataOf(values),
        },
        call,
      ),
    );
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'value',
      value: answer.key,
      data: { key: answer.key, productId: product, idempotencyKey },
      quiet: [answer.key],
      secret: true,
      idempotencyKey,
      notes: describe(changed, values, context.io.now()),
    };
  },
});

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
  { maxActivations, expires }: { maxActivations?: number | null | undefined; expires?: string | null | undefined },
  now: number,
): Note[] {
  const seats = maxActivations == null ? 'unlimited activations' : count(maxActivations, 'activation');
  const end = expires == null ? 'never expires' : `expires ${moment(expires)}`;
  const done = doneNote(changed, `created · ${seats}${expires === undefined ? '' : ` · ${end}`}`);
  if (expires !== undefined || changed.replayed) return [done];
  const month = moment(addCalendarMonth(toInstant(now)));
  return [done, { tone: 'hint', text: `no --expires given: the service sets one month, to ${month}` }];
}
