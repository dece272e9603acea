import type { CallEndpoint, Closed } from '../../client/client.ts';
import { outcomeUnknown, settles } from '../../client/errors.ts';
import { encodeInput, readBaseUrl } from '../../client/request.ts';
import type { AnyEndpoint, PayloadOf } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { withoutPassword } from '../config/location.ts';
import { InterruptedError, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/terminal.ts';
import { moment, shortMoment } from '../output/words.ts';
import { type Begun, type Entry, findGiven, type PendingChanges, type RequestIdentity } from '../state/pending.ts';
import { inProcessUrl } from './connection.ts';
import type { Target } from './target.ts';

/** A request that changes something; its endpoint may be missing in the contract. */
export interface Change<E extends AnyEndpoint = AnyEndpoint> {
  readonly endpoint: E;
  readonly input: unknown;
}

export type ChangeAnswer<E> = Closed<PayloadOf<E>>;

export interface Changed<T> {
  readonly answer: T;
  readonly idempotencyKey: string;
  /** Whether the response replays an earlier request. */
  readonly replayed: boolean;
}

export interface PreparedChange {
  readonly idempotencyKey: string;
  send(): Promise<Changed<unknown>>;
}

interface ChangesContext {
  readonly io: Io;
  readonly dryRun: boolean;
  pending(): Promise<PendingChanges>;
  target(): Promise<Target>;
  caller(): Promise<CallEndpoint>;
  say(note: Note): Promise<void>;
  readonly givenKey: string | undefined;
  readonly observation: { readonly replayed: boolean };
}

export type Changes = ReturnType<typeof openChanges>;

export function openChanges(context: ChangesContext) {
  const { io, givenKey, say } = context;
  const entries = new Set<Entry>();
  /** Entries that may have been sent and have no known response. */
  const open = new Set<Entry>();
  let pendingKey: string | null = null;
  /** Whether a later run has to finish the changes; then it needs the idempotency keys of all entries. */
  let isUnfinished = false;

  /** Writes changes to disk before the first change is sent. Throws `DryRun` instead of sending with `--dry-run`. */
  async function prepare(changes: readonly Change[]): Promise<readonly PreparedChange[]> {
    const target = await context.target();
    const requests = changes.map((change) => requestOf(change, target));
    if (context.dryRun) {
      const { DryRun } = await import('./dry-run.ts');
      throw new DryRun(requests.map((request) => ({ request, idempotencyKey: givenKey ?? io.uuid() })));
    }
    // First the token: without it nothing is sent, so nothing is written.
    await context.caller();
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    const begun = await begin(requests);
    for (const note of notesOn(begun, io)) await say(note);
    return begun.entries.flatMap((entry, at) => {
      const change = changes[at];
      entries.add(entry);
      if (entry.repeats) open.add(entry);
      return change ? [{ ...entry, send: () => sendEntry(entry, change) }] : [];
    });
  }

  /** Writes requests to disk; a given idempotency key repeats them without that. */
  async function begin(requests: readonly RequestIdentity[]): Promise<Begun> {
    if (givenKey === undefined) return (await context.pending()).begin(requests);
    try {
      return findGiven(await context.pending(), requests, givenKey);
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      return findGiven(null, requests, givenKey);
    }
  }

  async function sendEntry(entry: Entry, { endpoint, input }: Change): Promise<Changed<unknown>> {
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    const { idempotencyKey } = entry;
    pendingKey = idempotencyKey;
    open.add(entry);
    try {
      const caller = await context.caller();
      const answer = await caller(endpoint, input, { idempotencyKey, signal: io.stop });
      pendingKey = null;
      open.delete(entry);
      return { answer, idempotencyKey, replayed: context.observation.replayed };
    } catch (error) {
      const isSettled = !io.stop.aborted && isSettledBy(error, entry);
      if (isSettled) {
        pendingKey = null;
        open.delete(entry);
      }
      if (!isSettled || (entries.size > 1 && !isRefusal(error))) isUnfinished = true;
      throw error;
    }
  }

  /** Called when the reader has received the responses, or the error: the changes need not be repeated. */
  async function complete(): Promise<void> {
    if (isUnfinished) return;
    const done = [...entries].filter((entry) => !open.has(entry) && entry.files.length > 0);
    if (done.length === 0) return;
    try {
      (await context.pending()).complete(done);
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      await say({ tone: 'warning', text: `${error.message}: the next run of this command repeats its calls` });
    }
  }

  return { prepare, complete, pendingKey: () => pendingKey };
}

/** Whether an error is final, so that nothing is left to repeat. */
const isSettledBy = (error: unknown, { repeats }: Entry): boolean =>
  // An error that occurs before the service looks the key up says nothing about the attempt of the earlier process.
  repeats ? isRefusal(error) : !outcomeUnknown(error);

/** Whether the service has refused this request finally; other requests may succeed. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && settles(error) && !outcomeUnknown(error);

function notesOn({ repeated, tooOld }: Begun, io: Io): Note[] {
  const notes = tooOld.map(({ method, path, createdAt }): Note => {
    const call = `${method} ${path.replace(/\?.*/, '')}`;
    const text = `an earlier ${call} of ${moment(createdAt)} never got an answer, and it is too late to repeat it`;
    return { tone: 'warning', text: `${text}\nthis is a new one; see what the earlier one has done: lkm audit list` };
  });
  const [first, ...others] = repeated;
  if (first === undefined) return notes;
  const when = shortMoment(first.createdAt, io.now());
  const calls = `${others.length + 1} calls that had no answer, the first of ${when}`;
  const text = `repeating ${others.length === 0 ? `the call of ${when} that had no answer` : calls}`;
  return [...notes, { tone: 'hint', text }];
}

export interface ChangeRequest extends RequestIdentity {
  readonly endpoint: AnyEndpoint;
  readonly url: string;
}

/** Checks and encodes a change. Throws `InputError`. */
function requestOf({ endpoint, input }: Change, target: Target): ChangeRequest {
  const { search, body } = encodeInput(endpoint, input);
  const path = `${endpoint.path}${search}`;
  return { endpoint, origin: originOf(target), method: endpoint.method, url: `${hrefOf(target)}${path}`, path, body };
}

/** Identifies the service or database, without a password. */
export const originOf = (target: Target): string =>
  target.kind === 'database' ? withoutPassword(target.db) : hrefOf(target);

function hrefOf(target: Target): string {
  const baseUrl = target.kind === 'database' ? inProcessUrl : target.baseUrl;
  return readBaseUrl(baseUrl, { plainHttpAllowed: false }).href;
}
