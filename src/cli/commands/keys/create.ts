import type { Client } from '../../../client/client.ts';
import { ApiError } from '../../../contract/errors.ts';
import { writeDuration } from '../../../contract/fields.ts';
import { keys } from '../../../contract/keys/keys.ts';
import { licenseTypes } from '../../../contract/keys/licenses.ts';
import { addCalendarMonth, toInstant } from '../../../domain/time.ts';
import { bulkOptions, isBulk, orInBulk } from '../../bulk/options.ts';
import { change, command, type Declaration, flag, many, option, productUnlessFile } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { CommandError, exitCodes, UsageError } from '../../failure/errors.ts';
import { githubOutput, setOutput } from '../../output/github.ts';
import type { CommandResult, Field } from '../../output/result.ts';
import { doneNote, type Note } from '../../output/terminal.ts';
import { count, moment } from '../../output/words.ts';
import { parseCalendarDuration } from '../../values/duration.ts';
import { readExpiry } from '../../values/instant.ts';
import { parseCount, parseLimit, parsePositive } from '../../values/scalars.ts';
import { customerOption, planOption } from '../forms.ts';
import { fieldsShown, secretValue } from '../results.ts';
import { fingerprintMatch, metadataOptions, newCustomerOptions, trialOption } from './key-options.ts';

const ownFields: readonly Field[] = [{ name: 'key' }, { name: 'productId' }, { name: 'idempotencyKey' }];

export const keysCreate: Declaration = command({
  about: 'Issues a licence key for a product and prints it.',
  operation: 'keys.create',
  alsoNeeds: {
    'customer:read': 'for a customer by name or address',
    'customer:write': 'with -f, for customers of an address that are not there',
  },
  options: {
    product: productUnlessFile,
    plan: planOption('the plan for values that are not given, and for features'),
    maxActivations: option('--max-activations <N|unlimited>', 'how many devices may use it at a time', {
      parse: (text: string) => parseLimit(text) ?? undefined,
      field: 'usesPerKey',
    }),
    expires: option(
      '--expires <WHEN>',
      'when it expires: a day, an instant, a time from now such as 12h, 30d or 1y (days and longer: to the end of that day, UTC), or never',
      { parse: readExpiry, field: 'expiryDate' },
    ),
    expiresAfter: option(
      '--expires-after <DUR>',
      'let it expire this long after its first use: P1Y, 30d',
      parseCalendarDuration,
    ),
    gracePeriod: option(
      '--grace-period <DUR>',
      'let it be used for this long after it expires, with a warning: P14D',
      parseCalendarDuration,
    ),
    reference: option('--reference <TEXT>', 'your own name, such as an order number; each has one key'),
    customer: customerOption('the customer it is for'),
    ...newCustomerOptions,
    licenseType: option('--type <TYPE>', 'what it is bound to; node-locked unless given', { choices: licenseTypes }),
    maxConcurrentSessions: option('--max-sessions <N>', 'how many sessions a floating key may have', parseCount),
    ...metadataOptions('keep a text with the key, such as an order number'),
    trial: trialOption('whether it is a trial'),
    versionId: option('--version-id <ID>', 'the product version it is for'),
    fingerprintMatch,
    allowedHosts: many('--allow-host <ID>', 'let only the hosts that are given here use it'),
    ifAbsent: flag('--if-absent', 'print the key that the reference has already, if it has one'),
    count: option(
      '--count <N>',
      'issue N keys: the same keys each time, unless --run names another run',
      parsePositive,
    ),
    ...bulkOptions,
    githubOutput,
    ...change,
  },
  ...orInBulk(ownFields, [...fieldsShown('chosen', 'reference', 'existing', 'warning')]),
  examples: [
    ['KEY=$(lkm keys create -P "$ID" --max-activations 5 --expires 1y)', 'a key for five devices and a year'],
    ['lkm keys create -P "$ID" --expires never --customer cus_…', 'a key for a customer, for ever'],
    ['lkm keys create -P "$ID" --type floating --max-sessions 10', 'ten sessions at a time'],
    ['lkm keys create -P "$ID" --plan "Pro yearly"', 'with the limits, the term and the features of a plan'],
    ['lkm keys create -P "$ID" --reference order-1042 --if-absent', 'one key for an order, for ever'],
    ['lkm keys create -P "$ID" --expires-after P1Y --grace-period P14D', 'a year from the first use'],
    ['lkm keys create -P "$ID" --metadata order=A-1042 --metadata plan=pro', 'a key that knows its order'],
    ['lkm keys create -P "$ID" --count 500 -o keys.csv', 'five hundred of a kind'],
    ['lkm keys create -P "$ID" --github-output key', 'for the next steps of a GitHub Actions job'],
    ['lkm keys create -P "$ID" -f orders.csv --map "Order No=reference"', 'one for each row of a file'],
  ],

  async run(values, context): Promise<CommandResult> {
    const { io } = context;
    const { reference, ifAbsent } = values;
    const { checkInput, inputOf } = await import('../../values/check-fields.ts');
    const input = inputOf(keysCreate, values) as Input;
    if (isBulk(values)) {
      const { createKeysInBulk } = await import('../../bulk/operations/create-keys.ts');
      const whenWritten = (made: readonly string[]) => setOutput(values.githubOutput, made, io);
      return createKeysInBulk(context, { ...values, whenWritten }, input, (which) => noteDefaultEnd(which, io.now()));
    }
    checkInput(keysCreate, input);
    if (ifAbsent && reference === undefined) throw new UsageError('--if-absent needs --reference');
    const result = await issue(context, input).catch((error: unknown) => {
      if (!ifAbsent || !(error instanceof ApiError) || error.reason !== 'referenceTaken') throw error;
      const hint = 'It is a key of another product: a reference stands for one key of the account.';
      throw new CommandError('reference_taken', exitCodes.conflict, error.message, [hint], { cause: error });
    });
    await setOutput(values.githubOutput, result.quiet, io, result.idempotencyKey);
    return result;
  },
});

type Input = Parameters<Client['keys']['create']>[0];

async function issue(context: CommandContext, input: Input): Promise<CommandResult> {
  const changed = await context.change(keys.create, input);
  const { answer, idempotencyKey, replayed } = changed;
  const { key, existing, warning } = answer;
  const { productId, reference } = input;
  const data = { productId, idempotencyKey, ...(reference !== undefined && { reference }) };
  if (existing) {
    const notes: Note[] = [{ tone: 'done', text: `${reference} has this key already; nothing was created` }];
    if (warning !== undefined) notes.push({ tone: 'warning', text: warning });
    return { ...secretValue(key, { key, ...data, existing, warning }), idempotencyKey, notes };
  }
  const isDefault = describeExpiry(input) === null && !replayed && input.planId === undefined;
  const hints = isDefault ? [noteDefaultEnd('no --expires given', context.io.now())] : [];
  const sayDone = (text: string) => doneNote(changed, `created · ${text}`);
  const value = { ...secretValue(key, { key, ...data }), idempotencyKey };
  if (!tellsMore(input, context)) return { ...value, notes: [sayDone(describeInput(input)), ...hints] };
  // After the key is printed, which nothing may delay.
  const afterwards = async () => {
    const client = await context.client();
    const shown = await client.keys.get({ productId, licenseKey: key }).catch(() => null);
    const done = sayDone(shown === null ? describeInput(input) : describeShown(shown));
    for (const note of [done, ...hints]) await context.say(note);
  };
  return { ...value, afterwards };
}

/** Whether a person reads the notes, and the plan and the customer say more than the request. */
const tellsMore = ({ planId, customerId }: Input, { io, settings }: CommandContext): boolean =>
  io.stderr.isTTY && !settings.quiet && !settings.format.startsWith('json') && (planId ?? customerId) != null;

function describeInput(input: Input): string {
  const { usesPerKey, planId, newCustomer } = input;
  const isPlanned = planId !== undefined && usesPerKey === undefined;
  return describe(
    isPlanned ? 'by its plan' : describeActivations(usesPerKey),
    describeExpiry(input),
    newCustomer?.name,
  );
}

function describeShown({ license, customer }: Awaited<ReturnType<Client['keys']['get']>>): string {
  const { maxActivations, expirationDate: expiryDate, expiresAfter } = license;
  const expires = expiresAfter == null ? describeExpiry({ expiryDate }) : `lasts ${expiresAfter} from its first use`;
  return describe(describeActivations(maxActivations), expires, customer?.name);
}

const describe = (activations: string, expires: string | null, customer: string | undefined): string =>
  [activations, expires, customer && `for ${customer}`].filter(Boolean).join(' · ');

const describeActivations = (max: number | null | undefined): string =>
  max == null ? 'unlimited activations' : count(max, 'activation');

function describeExpiry({ expiryDate, expiresAfter }: Pick<Input, 'expiryDate' | 'expiresAfter'>): string | null {
  if (expiresAfter !== undefined) return `lasts ${writeDuration(expiresAfter)} from its first use`;
  if (expiryDate === undefined) return null;
  return expiryDate === null ? 'never expires' : `expires ${moment(expiryDate)}`;
}

function noteDefaultEnd(which: string, now: number): Note {
  const month = moment(addCalendarMonth(toInstant(now)));
  return { tone: 'hint', text: `${which}: the service sets one month, to ${month}` };
}
