import { streamEvents } from '../contract/event-stream.ts';
import { Event, type EventType } from '../contract/events.ts';
import type { TransportResponse } from '../contract/transport.ts';
import type { CallContext } from './call.ts';
import { readOptions } from './client.ts';
import { toCallError } from './errors.ts';
import type { ClientOptions } from './options.ts';
import { encodeInput, writeHeaders } from './request.ts';
import { readResult } from './response.ts';

/** Which events are followed. */
export interface FollowOptions {
  /** The number after which to begin; without it with what happens from now on. */
  readonly after?: number | undefined;
  /** Only events of these types. */
  readonly type?: readonly EventType[] | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** How long nothing may come, not even a sign of life, in milliseconds. */
const SILENCE_MS = 45_000;

/** How long to wait before coming back, unless the service says it, and at most, in milliseconds. */
const [RETRY_MS, MAX_RETRY_MS] = [1_000, 10_000];

/**
 * Follows the events of an account as they happen: `for await (const event of followEvents({ baseUrl, token }, { after }))`.
 *
 * Each event comes once, in the order of the numbers. When the service cannot be reached it comes back, for as long as it
 * takes, and goes on after the last event; it ends with the signal alone. Rejects with `ApiError` when the service
 * refuses, with `ProtocolError` when something else answers.
 */
export async function* followEvents(options: ClientOptions, follow: FollowOptions = {}): AsyncGenerator<Event, void> {
  for await (const events of followParts(options, follow)) yield* events;
}

/** The same, with the events that came together. */
export async function* followParts(
  options: ClientOptions,
  { after, type, signal }: FollowOptions,
): AsyncGenerator<readonly Event[], void> {
  const context = readOptions(options);
  const position: Position = { last: after ?? null, retryMs: RETRY_MS };
  for (let failures = 0; !signal?.aborted; failures += 1) {
    try {
      for await (const events of connect(context, position, type, signal)) {
        failures = 0;
        if (events.length > 0) yield events;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof Refused) throw error.cause;
    }
    const waitMs = Math.min(MAX_RETRY_MS, position.retryMs * 2 ** Math.min(failures, 5));
    await context.timing.sleep(waitMs, signal).catch(() => {});
  }
}

/** How far it has come. */
interface Position {
  last: number | null;
  retryMs: number;
}

/** Coming back would change nothing; the cause says why. */
class Refused extends Error {}

async function* connect(
  context: CallContext,
  position: Position,
  type: FollowOptions['type'],
  signal: AbortSignal | undefined,
): AsyncGenerator<Event[]> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const end = AbortSignal.any(signal === undefined ? [silence.signal] : [silence.signal, signal]);
  try {
    const { search } = encodeInput(streamEvents, { after: position.last ?? undefined, type });
    const response = await context.transport(
      {
        url: `${context.baseHref}${streamEvents.path}${search}`,
        method: 'GET',
        headers: writeHeaders(streamEvents, context.credentials, null),
        body: null,
      },
      end,
    );
    if (response.status !== 200) throw await refusalOf(context, response);
    const parser = createParser(position);
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      yield parser(decoder.decode(chunk, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** An error to be thrown; one that passes by itself is no `Refused`. */
async function refusalOf({ host, timing }: CallContext, response: TransportResponse): Promise<Error> {
  const { status, headers, body } = response;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) text += decoder.decode(chunk, { stream: true });
  const result = readResult(streamEvents, { kind: 'response', status, headers, text }, timing.now());
  if (result.kind === 'success' || status === 429 || status >= 500) return new Error(`the service answered ${status}`);
  const call = { operation: `GET ${streamEvents.path}`, idempotencyKey: null, attempts: 1, mayHaveRunBefore: false };
  return new Refused('refused', { cause: toCallError(result, streamEvents, { call, host, sent: true }) });
}

/** Reads server-sent events (WHATWG, "Interpreting an event stream") from a text that comes in pieces of any length. */
function createParser(position: Position): (text: string) => Event[] {
  let rest = '';
  let data = '';
  let id: number | null = null;
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    const events: Event[] = [];
    for (const line of lines) {
      if (line.startsWith('data: ')) data += line.slice(6);
      else if (line.startsWith('id: ')) id = Number(line.slice(4));
      else if (line.startsWith('retry: ')) position.retryMs = Number(line.slice(7));
      else if (line === '') {
        if (data !== '') events.push(Event().parse(JSON.parse(data)));
        if (id !== null) position.last = id;
        data = '';
        id = null;
      }
    }
    return events;
  };
}
