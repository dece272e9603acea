import { type CallEndpoint, type Client, clientOfCall } from '../../client/client.ts';
import { outcomeUnknown, settles } from '../../client/errors.ts';
import type { CallOptions } from '../../client/options.ts';
import { encodeInput, readBaseUrl } from '../../client/request.ts';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { withoutPassword } from '../config/location.ts';
import { InterruptedError, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { Note } from '../output/terminal.ts';
import {
  type Begun,
  beginChanges,
  completeChanges,
  type Entry,
  findGiven,
  type RequestIdentity,
} from '../state/journal.ts';
import type { State } from '../state/state.ts';
import { inProcessUrl } from './connection.ts';
import type { Target } from './target.ts';

/** Makes one request of the client, or one that the contract does not have with the caller. */
export type Send<T> = (client: Client, call: CallOptions, caller: CallEndpoint) => Promise<T>;

/** What a change answered, and the key that repeats it. */
export interface Changed<T> {
  readonly answer: T;
  readonly idempotencyKey: string;
  /** Whether an earlier request had made it: nothing was done twice. */
  readonly replayed: boolean;
}

/** A change that can be sent. */
export interface PreparedChange<T> {
  /** Whether an earlier process may have sent it. */
  readonly repeats: boolean;
  readonly idempotencyKey: string;
  send(): Promise<Changed<T>>;
}

/** The changes of one command, each under its idempotency key. */
export interface Changes {
  /** Writes changes down before the first of them is sent. Throws `DryRun` in place of sending, where that is asked. */
  prepare<T>(sends: readonly Send<T>[]): Promise<readonly PreparedChange<T>[]>;
  /** The key of a change that was sent and not answered. */
  readonly pendingKey: string | null;
  /** To be called when the reader has the answers, or the error instead: then the changes need not be repeated. */
  complete(): Promise<void>;
}

interface ChangesContext {
  readonly io: Io;
  readonly dryRun: boolean;
  /** The key that was given on the command line. */
  readonly givenKey: string | undefined;
  /** Whether the last response was that of an earlier request. */
  readonly observation: { readonly replayed: boolean };
  /** Where changes are written down. */
  state(): Promise<State>;
  target(): Promise<Target>;
  caller(): Promise<CallEndpoint>;
  say(note: Note): Promise<void>;
}

export function openChanges({
  io,
  dryRun,
  givenKey,
  observation,
  state,
  target,
  caller,
  say,
}: ChangesContext): Changes {
  const entries = new Set<Entry>();
  /** Entries that may have been sent, and are not known to be answered. */
  const open = new Set<Entry>();
  let pendingKey: string | null = null;
  /** Whether a later run has to finish: then it needs the keys of all entries, also of those that were answered. */
  let isUnfinished = false;

  async function prepare<T>(sends: readonly Send<T>[]): Promise<readonly PreparedChange<T>[]> {
    const chosen = await target();
    const requests = await Promise.all(
      sends.map((send) => captureRequest(chosen, (recorder) => send(clientOfCall(recorder), {}, recorder))),
    );
    if (dryRun) {
      const { DryRun } = await import('./dry-run.ts');
      throw new DryRun(requests.map((request) => ({ request, idempotencyKey: givenKey ?? io.uuid() })));
    }
    const ready = await caller();
    const client = clientOfCall(ready);
    if (io.stop.aborted) throw new InterruptedError(io.stop.reason);
    const begun = await begin(requests.map(identityOf));
    await sayWhatWasFound(begun);
    return begun.entries.flatMap((entry, at) => {
      const send = sends[at];
      entries.add(entry);
      if (entry.repeats) open.add(entry);
      return send ? [{ ...entry, send: () => sendEntry(entry, (call) => send(client, call, ready)) }] : [];
    });
  }

  /** Writes requests down before they are sent. A key that was given repeats them without that. */
  async function begin(requests: readonly RequestIdentity[]): Promise<Begun> {
    if (givenKey === undefined) {
      return beginChanges(
        await state(),
        requests.map((request) => ({ ...request, newKey: io.uuid() })),
        io,
      );
    }
    const known = await state().catch(() => null);
    return findGiven(known, requests, givenKey);
  }

  async function sayWhatWasFound(begun: Begun): Promise<void> {
    if (begun.repeated.length === 0 && begun.tooOld.length === 0) return;
    const { notesOn } = await import('./journal-notes.ts');
    for (const note of notesOn(begun, io)) await say(note);
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
      return { answer, idempotencyKey, replayed: observation.replayed };
    } catch (error) {
      const isSettled = !io.stop.aborted && isSettledBy(error, entry);
      if (isSettled) pendingKey = null;
      if (isSettled) open.delete(entry);
      if (!isSettled || (entries.size > 1 && !isRefusal(error))) isUnfinished = true;
      throw error;
    }
  }

  async function complete(): Promise<void> {
    if (isUnfinished) return;
    const done = [...entries].filter((entry) => !open.has(entry) && entry.ids.length > 0);
    if (done.length === 0) return;
    try {
      completeChanges(await state(), done);
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      const { stillWritten } = await import('./journal-notes.ts');
      await say(stillWritten(error));
    }
  }

  return {
    prepare,
    complete,
    get pendingKey() {
      return pendingKey;
    },
  };
}

/** Whether an error ends a request for good: then nothing is left to repeat. */
const isSettledBy = (error: unknown, { repeats }: Entry): boolean =>
  // An error from before the idempotency key is looked up says nothing of the earlier process's attempt.
  repeats ? isRefusal(error) : !outcomeUnknown(error);

/** Whether an error is the service's last word on this one request; other requests may succeed. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && settles(error) && !outcomeUnknown(error);

/** A request as the client will send it. */
export interface CapturedRequest {
  readonly endpoint: AnyEndpoint;
  /** Which service or database it is for, without a password. */
  readonly origin: string;
  readonly url: string;
  /** Path below the origin, and query. */
  readonly path: string;
  /** The exact text of its body. */
  readonly body: string | null;
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
    captured.resolve({ endpoint, origin: originOf(target), url: `${href}${path}`, path, body });
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

/** What tells a request from another one. */
const identityOf = ({ origin, endpoint, path, body }: CapturedRequest): RequestIdentity => ({
  origin,
  method: endpoint.method,
  path,
  body,
});
