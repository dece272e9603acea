import { type CallEndpoint, type Client, clientOfCall } from '../../client/client.ts';
import { outcomeUnknown, settles } from '../../client/errors.ts';
import type { CallOptions } from '../../client/options.ts';
import { encodeInput, readBaseUrl } from '../../client/request.ts';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { withoutPassword } from '../config/location.ts';
import type { CommandContext } from '../context.ts';
import { InterruptedError, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/terminal.ts';
import { moment, shortMoment } from '../output/words.ts';
import {
  type Begun,
  beginChanges,
  completeChanges,
  type Entry,
  findGiven,
  type RequestIdentity,
} from '../state/journal.ts';
import { inProcessUrl } from './connection.ts';
import type { Target } from './target.ts';

/** Makes one request of the client, or one that the contract does not have with the caller. */
export type Send<T> = (client: Client, call: CallOptions, caller: CallEndpoint) => Promise<T>;

export interface Changed<T> {
  readonly answer: T;
  readonly idempotencyKey: string;
  /** Whether an earlier request had made it: nothing was done twice. */
  readonly replayed: boolean;
}

export interface PreparedChange<T> {
  /** Whether an earlier process may have sent it. */
  readonly repeats: boolean;
  readonly idempotencyKey: string;
  send(): Promise<Changed<T>>;
}

interface ChangesContext extends Pick<CommandContext, 'io' | 'dryRun' | 'state' | 'target' | 'caller' | 'say'> {
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
  async function prepare<T>(sends: readonly Send<T>[]): Promise<readonly PreparedChange<T>[]> {
    const target = await context.target();
    const requests = await Promise.all(
      sends.map((send) => captureRequest(target, (recorder) => send(clientOfCall(recorder), {}, recorder))),
    );
    if (context.dryRun) {
      const { DryRun } = await import('./dry-run.ts');
      throw new DryRun(requests.map((request) => ({ request, idempotencyKey: givenKey ?? io.uuid() })));
    }
    const caller = await context.caller();
    const client = clientOfCall(caller);
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    const begun = await begin(requests);
    for (const note of notesOn(begun, io)) await say(note);
    return begun.entries.flatMap((entry, at) => {
      const send = sends[at];
      entries.add(entry);
      if (entry.repeats) open.add(entry);
      return send ? [{ ...entry, send: () => sendEntry(entry, (call) => send(client, call, caller)) }] : [];
    });
  }

  /** Writes requests down before they are sent. A key that was given repeats them without that. */
  async function begin(requests: readonly RequestIdentity[]): Promise<Begun> {
    if (givenKey === undefined) return beginChanges(await context.state(), requests, io);
    const known = await context.state().catch(() => null);
    return findGiven(known, requests, givenKey);
  }

  async function sendEntry<T>(entry: Entry, send: (call: CallOptions) => Promise<T>): Promise<Changed<T>> {
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    const { idempotencyKey } = entry;
    pendingKey = idempotencyKey;
    open.add(entry);
    try {
      const answer = await send({ idempotencyKey, signal: io.stop });
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
    const done = [...entries].filter((entry) => !open.has(entry) && entry.ids.length > 0);
    if (done.length === 0) return;
    try {
      completeChanges(await context.state(), done);
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

/** What the journal knows about requests that were written down just now. */
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

export interface CapturedRequest extends RequestIdentity {
  readonly endpoint: AnyEndpoint;
  readonly url: string;
}

/** Finds out which request `send` makes; sends nothing, opens nothing. Throws `InputError` as the client does. */
async function captureRequest(
  target: Target,
  send: (caller: CallEndpoint) => Promise<unknown>,
): Promise<CapturedRequest> {
  const href = hrefOf(target);
  const captured = Promise.withResolvers<CapturedRequest>();
  const recorder: CallEndpoint = async (endpoint, input) => {
    const { search, body } = encodeInput(endpoint, input);
    const path = `${endpoint.path}${search}`;
    const { method } = endpoint;
    captured.resolve({ endpoint, origin: originOf(target), method, url: `${href}${path}`, path, body });
    // No answer: the first request is all there is to see.
    return new Promise(() => {});
  };
  void send(recorder).then(
    () => captured.reject(new Error('the change made no request')),
    (error: unknown) => captured.reject(error),
  );
  return captured.promise;
}

/** Which service or database it is, without a password. */
export const originOf = (target: Target): string =>
  target.kind === 'database' ? withoutPassword(target.db) : hrefOf(target);

function hrefOf(target: Target): string {
  const baseUrl = target.kind === 'database' ? inProcessUrl : target.baseUrl;
  return readBaseUrl(baseUrl, { plainHttpAllowed: false }).href;
}
