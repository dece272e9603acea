import { findOperation, type OperationName } from '../failure/operation.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/terminal.ts';
import { moment, shortMoment } from '../output/words.ts';
import type { Begun, Pending } from '../state/journal.ts';

/** What the journal knows about requests that were written down just now. */
export function* notesOn({ repeated, tooOld }: Begun, io: Io): Generator<Note> {
  for (const change of tooOld) yield { tone: 'warning', text: notRepeated(change) };
  const [first, ...others] = repeated;
  if (first !== undefined) yield { tone: 'hint', text: repeating(first, others.length, io.now()) };
}

/** What to say when the state cannot be written once the answers are printed. */
export const stillWritten = (failure: Error): Note => ({
  tone: 'warning',
  text: `${failure.message}: the next run of this command repeats its calls`,
});

const repeating = (first: Pending, others: number, now: number): string =>
  others === 0
    ? `repeating the call of ${shortMoment(first.createdAt, now)} that had no answer`
    : `repeating ${others + 1} calls that had no answer, the first of ${shortMoment(first.createdAt, now)}`;

const notRepeated = (change: Pending): string =>
  [
    `an earlier call of ${moment(change.createdAt)} never got an answer, and it is too late to repeat it`,
    `this is a new one; ${wayToCheck(change)}`,
  ].join('\n');

/** How to see what a call has done. */
function wayToCheck({ method, path }: Pending): string {
  const operation = findOperation(`${method} ${path.replace(/\?.*/, '')}`)?.name ?? '';
  return waysToCheck[operation] ?? "the service's log shows whether the earlier call was carried out";
}

const devices = 'see which devices hold a slot: lkm keys get KEY';

/** The operations whose effect a command shows. */
const waysToCheck: Readonly<Record<string, string>> = {
  'customers.create': 'see whether the earlier one made its customer: lkm customers list',
  'customers.delete': 'see whether the customer is gone: lkm customers list',
  'products.create': 'see whether the earlier one made its product: lkm products list',
  'products.update': 'see what the product is: lkm products get ID',
  'tokens.create': 'see whether the earlier one made a token, and revoke it: lkm tokens list',
  'tokens.revoke': 'see whether the token is revoked: lkm tokens list',
  'keys.create': 'see whether the earlier one made its key, the newest first: lkm keys list',
  'keys.update': 'see what the key is: lkm keys get KEY',
  'keys.renew': 'see when the key expires: lkm keys get KEY',
  'keys.transfer': 'see whose the key is: lkm keys get KEY',
  'keys.delete': 'see whether the key is gone: lkm keys get KEY',
  'keys.activate': devices,
  'keys.deactivate': devices,
  'keys.rebind': devices,
  'keys.sign': devices,
  'keys.checkout': 'see whether the earlier one took a seat, and free it: lkm sessions list --key KEY',
  'webhooks.create': 'see whether the earlier one made its webhook: lkm webhooks list',
} satisfies Partial<Record<OperationName, string>>;
