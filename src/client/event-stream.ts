import { createParser } from 'eventsource-parser';
import { Event, type EventType, streamEvents } from '../contract/events.ts';
import { readText, toNetworkError } from './attempt.ts';
import { type CallContext, prepareRequest } from './call.ts';
import { readOptions } from './client.ts';
import { isCallError, NetworkError, ProtocolError } from './errors.ts';
import type { TransportResponse } from './network.ts';
import type { ClientOptions } from './options.ts';
import { maxResponseBytes, readReply } from './response.ts';
import { isTransient } from './retries.ts';

/** Which events are followed. */
export interface FollowOptions {
  /** The number after which to begin; without it with what happens from now on. */
  readonly after?: number | undefined;
  /** Only events of these types. */
  readonly type?: readonly EventType[] | undefined;
  /** Called when the service goes away, with each new reason, and with null when it is back. */
  readonly onAway?: ((why: Error | null) => unknown) | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** How long nothing may come, not even a sign of life, which is sent every 15 seconds, in milliseconds. */
const SILENCE_MS = 30_000;

const silenced = () =>
  new NetworkError('nothing has come through for 30 seconds: something in between may hold events back', {
    ...{ call: trace, sent: true, timedOut: true },
  });

/** How long to wait before coming back, unless the service says it, and at most, in milliseconds. */
const [RETRY_MS, MAX_RETRY_MS] = [1_000, 10_000];

/**
 * Follows the events of an account: `for await (const event of followEvents({ baseUrl, token }, { after }))`. Each comes
 * once, in the order of the numbers. When the service is away it comes back, for as long as it takes, and goes on after the
 * last event. Rejects with `ApiError`, `ProtocolError` or `InputError`, or `NetworkError` when coming back cannot help.
 */
export async function* followEvents(options: ClientOptions, follow: FollowOptions = {}): AsyncGenerator<Event, void> {
  for await (const events of followParts(options, follow)) yield* events;
}

/** The same, with the events that came together. */
export async function* followParts(
  options: ClientOptions,
  { after, type, signal, onAway }: FollowOptions,
): AsyncGenerator<readonly Event[], void> {
  let told: string | null = null;
  const context = readOptions(options);
  const position: Position = { last: after ?? null, retryMs: RETRY_MS };
  for (let failures = 0; !signal?.aborted; failures += 1) {
    let askedMs = 0;
    try {
      for await (const events of connect(context, position, type, signal)) {
        failures = 0;
        if (told !== null) await onAway?.(null);
        told = null;
        if (events.length > 0) yield events;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isCallError(error) || !isTransient(error)) throw error;
      if (told !== error.message) await onAway?.(error);
      told = error.message;
      askedMs = ('retryAfterMs' in error && error.retryAfterMs) || 0;
    }
    const waitMs = Math.min(MAX_RETRY_MS, position.retryMs * 2 ** Math.min(failures, 5));
    await context.timing.sleep(Math.max(waitMs, askedMs), signal).catch(() => {});
  }
}

/** How far it has come. */
interface Position {
  last: number | null;
  retryMs: number;
}

/** What an error says of the request. */
const trace = { operation: `GET ${streamEvents.path}`, idempotencyKey: null, attempts: 1 };

/** The events of one connection. Throws `NetworkError` when it breaks, and what the service answers in their place. */
async function* connect(
  context: CallContext,
  position: Position,
  type: FollowOptions['type'],
  signal: AbortSignal | undefined,
): AsyncGenerator<Event[]> {
  const request = prepareRequest(context, streamEvents, { after: position.last ?? undefined, type }, null);
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const end = AbortSignal.any(signal === undefined ? [silence.signal] : [silence.signal, signal]);
  const { host, proxy, hooks, timing, transport } = context;
  const startedAt = timing.now();
  const lost = (cause: unknown) =>
    silence.signal.aborted ? silenced() : toNetworkError(cause, { call: trace, host, proxy });
  try {
    const response = await transport(request, end).catch(lost);
    const received = response instanceof NetworkError ? null : response;
    hooks.onExchange?.({ request, response: received && { ...headOf(received), text: '' } });
    hooks.onAttempt?.({
      operation: trace.operation,
      attempt: 1,
      status: received?.status ?? null,
      durationMs: Math.max(0, timing.now() - startedAt),
      idempotencyKey: null,
      replayed: false,
      willRetryInMs: null,
    });
    if (received === null) throw response;
    const chunks = chunksOf(received, lost);
    if (!isEventStream(received)) {
      const text = await readText(chunks, maxResponseBytes(streamEvents));
      const reply = readReply(streamEvents, { ...headOf(received), text }, trace, timing.now());
      throw 'payload' in reply ? outsideContract('answered with no stream of events') : reply;
    }
    const read = eventReader(position);
    const decoder = new TextDecoder();
    for await (const chunk of chunks) {
      timer.refresh();
      yield read(decoder.decode(chunk, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Of a `Response` these are no members of its own. */
const headOf = ({ status, headers }: TransportResponse) => ({ status, headers });

/** Whether it is what was asked for: a page for people may come with 200 too. */
const isEventStream = ({ status, headers }: TransportResponse): boolean =>
  status === 200 && /^text\/event-stream\s*(;|$)/i.test(headers.get('content-type') ?? '');

/** The pieces of a body. Throws what `lost` makes of the cause when the connection breaks. */
async function* chunksOf({ body }: TransportResponse, lost: (cause: unknown) => Error): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk;
  } catch (cause) {
    throw lost(cause);
  }
}

/** Reads the data of one event. Throws `ProtocolError`. */
function readEvent(data: string): Event {
  try {
    return Event.parse(JSON.parse(data));
  } catch (cause) {
    throw outsideContract('sent an event in a shape outside its contract', cause);
  }
}

const outsideContract = (what: string, cause?: unknown) =>
  new ProtocolError(`the service ${what}`, { call: trace, status: 200, foreign: false }, { cause });

/** A line, or the data of one event, that is longer comes from no service of ours. */
const MAX_LENGTH = 16 * 1024 * 1024;

/** Reads server-sent events from a text that comes in pieces of any length. Throws `ProtocolError`. */
function eventReader(position: Position): (text: string) => Event[] {
  let events: Event[] = [];
  const parser = createParser({
    maxBufferSize: MAX_LENGTH,
    onId: (id) => {
      if (/^\d+$/.test(id)) position.last = Number(id);
    },
    onEvent: ({ data }) => void events.push(readEvent(data)),
    onRetry: (ms) => {
      position.retryMs = ms;
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw outsideContract('sent an event that does not end', error);
    },
  });
  return (text) => {
    events = [];
    parser.feed(text);
    return events;
  };
}
