import { outcomeUnknown, settles } from '../../client/errors.ts';
import { ApiError } from '../../contract/errors.ts';
import { toInstant } from '../../domain/time.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/result.ts';
import { moment } from '../output/words.ts';
import { type Begun, type Entry, type Journal, journalFolder } from './journal.ts';
import type { Pending } from './journal-index.ts';
import type { RequestIdentity, Row } from './journal-lines.ts';

/** Writes requests to the journal before they are sent, and reports what it knows about them. Never throws. */
export async function beginChanges(
  requests: readonly RequestIdentity[],
  givenKey: string | undefined,
  { io, journal, say }: { readonly io: Io; readonly journal: () => Journal; say(note: Note): Promise<void> },
): Promise<readonly Entry[]> {
  const keyed = requests.map((request) => ({ ...request, newKey: givenKey ?? io.uuid() }));
  const begun = begin();
  for (const note of notesOn(begun, io)) await say(note);
  return begun.entries;

  function begin(): Begun {
    try {
      return journal().begin(keyed, givenKey);
    } catch (failure) {
      const entries = keyed.map(({ newKey }) => ({ idempotencyKey: newKey, repeats: false, rows: [] }));
      return { entries, repeated: [], elsewhere: [], tooOld: [], failure };
    }
  }
}

/** Whether an error ends a request for good: then nothing is left to repeat. */
export const isSettledBy = (error: unknown, { repeats }: Entry): boolean =>
  // An error from before the idempotency key is looked up says nothing of the earlier process's attempt.
  repeats ? isRefusal(error) : !outcomeUnknown(error);

/** Whether an error is the service's last word on this one request; other requests may succeed. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && settles(error) && !outcomeUnknown(error);

/** What to say when the journal cannot be written once the answers are printed. */
export const stillWritten = (failure: unknown, io: Io): Note => ({
  tone: 'warning',
  text: `cannot write to ${journalFolder(io)} (${codeOf(failure)}): the next run of this command repeats its calls`,
});

function* notesOn({ repeated, elsewhere, tooOld, failure }: Begun, io: Io): Generator<Note> {
  for (const pending of elsewhere) yield { tone: 'warning', text: onOtherMachine(pending, io) };
  for (const row of tooOld) yield { tone: 'warning', text: notRepeated(row) };
  const [first, ...others] = repeated;
  if (first !== undefined) yield { tone: 'hint', text: repeating(first, others.length, io) };
  if (failure !== undefined) {
    const text = `cannot write to ${journalFolder(io)} (${codeOf(failure)}): a call that gets no answer is not known to later ones`;
    yield { tone: 'warning', text };
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error);

const repeating = (first: Row, others: number, io: Io): string =>
  others === 0
    ? `repeating the call of ${when(first, io)} that had no answer`
    : `repeating ${others + 1} calls that had no answer, the first of ${when(first, io)}`;

/** `10:31 UTC`, with its day unless that is today. */
function when({ createdAt }: Row, io: Io): string {
  const text = moment(createdAt);
  return createdAt.slice(0, 10) === toInstant(io.now()).slice(0, 10) ? text.slice(11) : text;
}

const onOtherMachine = ({ row, owner }: Pending, io: Io): string =>
  [
    `the same call was made on ${owner.host} at ${when(row, io)}, and no answer is known here`,
    `unless it still runs there, repeat it instead: --idempotency-key ${row.idempotencyKey}`,
  ].join('\n');

const notRepeated = (row: Row): string =>
  [
    `an earlier call of ${moment(row.createdAt)} never got an answer and is too old to be repeated`,
    `this is a new one; ${waysToCheck[`${row.method} ${row.path.replace(/\?.*/, '')}`] ?? inItsLog}`,
  ].join('\n');

const inItsLog = 'whether the earlier one was run, the log of the service says';

/** How to see what an operation has done, where the command line can tell. */
const waysToCheck: Readonly<Record<string, string>> = {
  'POST /customer': 'see whether the earlier one made its customer: lkm customers list',
  'DELETE /customer/by-id': 'see whether the customer is gone: lkm customers list',
  'POST /product': 'see whether the earlier one made its product: lkm products list',
  'PUT /product/by-id': 'see what the product is: lkm products get ID',
  'POST /token': 'see whether the earlier one made a token, and revoke it: lkm tokens list',
  'DELETE /token/by-id': 'see whether the token is revoked: lkm tokens list',
  'POST /deactivate-key': 'see which devices hold a slot: lkm keys get KEY',
  'POST /key/sign': 'see which devices hold a slot: lkm keys get KEY',
};
