import type { Duration } from '../../../contract/fields.ts';
import type { License } from '../../../contract/keys/licenses.ts';
import { MIN_LICENSE_KEY } from '../../../contract/limits.ts';
import { argument, flag, option, productOfKeyOrRows, required, yes } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { Field } from '../../output/result.ts';
import { count, moment } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import { placeOf } from '../../request/target.ts';
import { parseCalendarDuration } from '../../values/duration.ts';
import { keyCheck, keysOfLine, keysUnlessCustomer, keyUnlessFile, wholeKeys } from '../../values/license-key.ts';
import { customerOption, ifUpdatedAt } from '../forms.ts';
import { namedRecord, type Outcome, secretValue } from '../results.ts';
import { type Lookup, licenseFields, withStatus } from './get.ts';
import { newCustomerOptions } from './key-options.ts';
import { keysCommand } from './keys-command.ts';

/** Without the customer, which the service does not return here. */
export const changedFields: readonly Field<Lookup>[] = licenseFields.filter(
  ({ name }) => name !== 'customer' && name !== 'customerId',
);

export const changedKey = (license: License, done: string, { now }: Io): Outcome => ({
  ...namedRecord(withStatus({ license, customer: null }, now()), license.key),
  data: { license },
  secrets: [license.key],
  secret: true,
  done,
});

/** Reads a duration. A text as long as a licence key is refused without showing it. */
function durationBehindKey(text: string): Duration {
  if (text.length < MIN_LICENSE_KEY) return parseCalendarDuration(text);
  throw new UsageError('the key comes first, and then how long', [['As in:', 'lkm keys renew KEY 1y']]);
}

export const keysRenew = keysCommand({
  about:
    'Extends the expiry of a key: adds a duration to it, to now, or to whichever is later. Months keep the day of the ' +
    'first expiry: the 31st, or the last day of a shorter month. The same command run twice renews twice, unless the ' +
    'first had no answer.',
  operation: 'keys.renew',
  done: 'renewed',
  arguments: {
    key: keysOfLine,
    givenDuration: argument('[DUR]', 'how long, in place of --for', {
      parse: durationBehindKey,
      field: 'duration',
    }),
  },
  options: {
    product: productOfKeyOrRows,
    duration: required('--for <DUR>', 'how long, by the calendar: P1Y, 1y, 6mo', {
      parse: parseCalendarDuration,
      neededUnless: ['givenDuration', 'file'],
    }),
    from: option(
      '--from <START>',
      'from its expiry (end), from now, or from the later of the two; later unless given',
      {
        choices: ['end', 'now', 'later'],
      },
    ),
    ifUpdatedAt,
    keyCheck,
  },
  rows: { fields: [{ name: 'expirationDate', label: 'expires' }] },
  fields: changedFields,
  examples: [
    ['lkm keys renew "$KEY" 1y', 'another year'],
    ['lkm keys renew "$KEY" --for P1M --from now', 'a month from now'],
    ['lkm keys renew -P "$ID" -f keys.csv --for 1y', 'each key of a file'],
  ],

  outcome: (license, _, { io }) => changedKey(license, `renewed · expires ${moment(license.expirationDate)}`, io),
});

export const keysReissue = keysCommand({
  about:
    'Replaces a key by a new one and prints that: the licence, its devices and its history stay. The old key works for ' +
    'another week, or for as long as --overlap says. The same command run twice replaces the key twice.',
  operation: 'keys.reissue',
  done: 'reissued',
  arguments: { key: keyUnlessFile },
  options: {
    product: productOfKeyOrRows,
    overlap: option(
      '--overlap <DUR>',
      'how long the old key still works, as 12h or 30d; 0s for no time (7d)',
      parseCalendarDuration,
    ),
    ifUpdatedAt,
    keyCheck,
  },
  rows: { fields: [{ name: 'key' }, { name: 'previousKeyUntil', label: 'old key until' }] },
  fields: ['key', 'message', 'previousKeyUntil'],
  examples: [
    ['NEW=$(lkm keys reissue "$KEY")', 'the old key works for a week'],
    ['lkm keys reissue "$KEY" --overlap 0s', 'it has leaked'],
    ['lkm keys reissue -f leaked.csv -o new.csv', 'each key of a file, with the new key beside it'],
  ],
  outcome: (answer) => ({
    ...secretValue(answer.key, answer),
    done: `reissued · the old key works until ${moment(answer.previousKeyUntil)}`,
  }),
});

export const keysTransfer = keysCommand({
  about: 'Gives keys to another customer, to a new one, or to nobody. Their devices keep their slots.',
  operation: 'keys.transfer',
  done: 'transferred',
  arguments: { keys: keysUnlessCustomer },
  options: {
    product: productOfKeyOrRows,
    customer: customerOption('the customer it is for from now on'),
    ...newCustomerOptions,
    fromCustomer: option('--from-customer <ID|EMAIL|NAME>', 'all keys of this customer; asks first', {
      takesName: true,
    }),
    yes,
    nobody: flag('--nobody', 'take it from its customer', { field: 'customerId', means: null }),
    ifUpdatedAt,
    keyCheck,
  },
  rows: {},
  fields: changedFields,
  examples: [
    ['lkm keys transfer "$KEY" --customer cus_…', 'another owner'],
    ['lkm keys transfer "$KEY" --new-customer-name "Ada Ltd"', 'a new one'],
    ['lkm keys transfer --from-customer "Ada Ltd" --customer cus_…', 'all keys of another one'],
  ],
  async findKeys({ keys: given = [], fromCustomer, customer, newCustomerName, product, yes }, context) {
    if (fromCustomer === undefined) return new Map();
    if (given.length > 0 || context.written.file !== undefined) {
      const other = given.length > 0 ? 'KEY' : '-f';
      const message = `${other} and --from-customer name two lists of keys; give one of them`;
      throw new UsageError(message, ['Nothing was sent.']);
    }
    const client = await context.client();
    const nameOf = async (customerId: string) => (await client.customers.get({ customerId })).name;
    const all = await Array.fromAsync(client.keys.list({ customerId: fromCustomer, productId: product }));
    const keys = all.filter(({ revokedAt }) => revokedAt === null);
    const revoked = all.length - keys.length;
    if (keys.length === 0) {
      const message = `${await nameOf(fromCustomer)} has no keys that could be transferred`;
      throw new UsageError(message, ['Nothing was sent.']);
    }
    if (!yes && !context.dryRun) {
      const what = `${count(keys.length, 'key')} of ${await nameOf(fromCustomer)}`;
      const to = customer ? await nameOf(customer) : (newCustomerName ?? 'nobody');
      await confirm(context, {
        about: [
          `  at ${placeOf(await context.target())}`,
          ...(revoked > 0 ? [`  without ${count(revoked, 'revoked key')}`] : []),
        ],
        question: `transfer ${what} to ${to}?`,
        action: `transferring ${what}`,
      });
    }
    wholeKeys(keys.map(({ key }) => key));
    return new Map(keys.map(({ key, productId }) => [key, productId]));
  },
  outcome: (license, { customer, newCustomerName, nobody }, { io }) =>
    changedKey(license, nobody ? 'taken from its customer' : `transferred to ${customer ?? newCustomerName}`, io),
});
