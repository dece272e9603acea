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

/** One request that changes something, as data; its endpoint may be one that the contract does not have. */
export interface Change<E extends AnyEndpoint = AnyEndpoint> {
  readonly endpoint: E;
  readonly input: unknown;
}

/** What a change is answered with. */
export type ChangeAnswer<E> = Closed<PayloadOf<E>>;

export interface Changed<T> {
  readonly answer: T;
  readonly idempotencyKey: string;
  /** Whether an earlier request had made it: nothing was done twice. */
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

/** The changes of one command, each under its idempotency key. */
export type Changes = ReturnType<typeof openChanges>;

export function openChanges(context: ChangesContext) {
  const { io, givenKey, say } = context;
  const entries = new Set<Entry>();
  /** Entries that may have been sent, and are not known to be answered. */
  const open = new Set<Entry>();
  let pendingKey: string | null = null;
  /** Whether a later run has to finish: then it needs the keys of all entries, also of those that were answered. */
  let isUnfinished = false;

  /** Writes changes down before the first of them is sent. Throws `DryRun` in place of sending, where that is asked. */
  async function prepare(changes: readonly Change[]): Promise<readonly PreparedChange[]> {
    const target = await context.target();
    const requests = changes.map((change) => requestOf(change, target));
    if (context.dryRun) {
      const { DryRun } = await import('./dry-run.ts');
      throw new DryRun(requests.map((request) => ({ request, idempotencyKey: givenKey ?? io.uuid() })));
    }
    // Before it is written down: without a token nothing is sent.
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

  /** Writes requests down before they are sent. A key that was given repeats them without that. */
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

  /** To be called when the reader has the answers, or the error instead: then the changes need not be repeated. */
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

/** Whether an error ends a request for good: then nothing is left to repeat. */
const isSettledBy = (error: unknown, { repeats }: Entry): boolean =>
  // An error from before the idempotency key is looked up says nothing of the earlier process's attempt.
  repeats ? isRefusal(error) : !outcomeUnknown(error);

/** Whether an error is the service's last word on this one request; other requests may succeed. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && settles(error) && !outcomeUnknown(error);

/** What is said of requests that were written down just now. */
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

/** A change as it would be sent. */
export interface ChangeRequest extends RequestIdentity {
  readonly endpoint: AnyEndpoint;
  readonly url: string;
}

/** Checks and encodes a change. Throws `InputError` as the client does. */
function requestOf({ endpoint, input }: Change, target: Target): ChangeRequest {
  const { search, body } = encodeInput(endpoint, input);
  const path = `${endpoint.path}${search}`;
  return { endpoint, origin: originOf(target), method: endpoint.method, url: `${hrefOf(target)}${path}`, path, body };
}

/** Which service or database it is, without a password. */
export const originOf = (target: Target): string =>
  target.kind === 'database' ? withoutPassword(target.db) : hrefOf(target);

function hrefOf(target: Target): string {
  const baseUrl = target.kind === 'database' ? inProcessUrl : target.baseUrl;
  return readBaseUrl(baseUrl, { plainHttpAllowed: false }).href;
}
