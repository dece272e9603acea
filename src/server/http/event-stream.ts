import { setTimeout as sleep } from 'node:timers/promises';
import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import { streamEvents } from '../../contract/events.ts';
import { MAX_SEQ } from '../../contract/scalars.ts';
import { listEvents } from '../../service/events.ts';
import type { AppParts } from '../app-parts.ts';
import { isStillValid } from './authenticate.ts';
import type { AuthorizedRequest, ReadResult } from './execute.ts';
import { readInput } from './input.ts';
import type { HttpRequest, HttpResponse } from './messages.ts';
import { handleRequest } from './pipeline.ts';

type Input = InputOf<typeof streamEvents>;

const PART = 100;

/** How often a caller is shown that the stream is alive, and its token is looked at also when nothing happens. */
const HEARTBEAT_MS = 15_000;

/** When a caller is to come back that has lost the stream, in milliseconds, and one that found no place, in seconds. */
const [RETRY_MS, FULL_RETRY_SECONDS] = [1_000, '5'];

/** The second one for proxies that would hold the stream back until it ends. */
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

const route = { name: 'events.stream', endpoint: streamEvents, looksUpKey: false, maxAgeSeconds: 0 } as const;

/** Handles `GET /event/stream`: sends events as they happen. Without `eventStreams` (in process) it sends the existing events and ends. */
export async function handleStream(parts: AppParts, request: HttpRequest): Promise<HttpResponse> {
  const response = await handleRequest(parts, route, request, open);
  const { status, headers } = response;
  if (status === 200) return { ...response, headers: { ...headers, ...STREAM_HEADERS } };
  return status === 429 ? { ...response, headers: { 'Retry-After': FULL_RETRY_SECONDS, ...headers } } : response;
}

type Authorized = AuthorizedRequest<typeof route>;

async function open(parts: AppParts, authorized: Authorized): Promise<ReadResult> {
  const { httpRequest, caller } = authorized;
  if (caller.productIds !== null) throw apiError('scopeMissing');
  const { type, after }: Input = readInput(streamEvents, httpRequest, new Uint8Array());
  const head = await parts.store.repositories.recordHeads.find(caller.accountId);
  const from = readLastEventId(httpRequest) ?? after ?? head?.eventSeq ?? 0;
  // Refused before the stream begins, as the list is.
  await listEvents({ repositories: parts.store.repositories, caller }, { after: from, limit: 1 });
  const result = { status: 200, replayed: false } as const;
  if (httpRequest.method === 'HEAD') return { ...result, body: '' };
  const ended = new AbortController();
  if (parts.eventStreams?.enter(caller.tokenId ?? '', ended.signal) === false) {
    throw apiError('rateLimited', { hint: 'Too many streams of events are open' });
  }
  const pieces = follow(parts, authorized, { after: from, type }, ended.signal);
  const body = {
    [Symbol.asyncIterator]: () => ({
      next: () => pieces.next(),
      // It has ended, or nobody takes any more, perhaps while a piece is waited for, which a generator would go on with.
      async return() {
        ended.abort();
        return { done: true, value: undefined } as const;
      },
    }),
  };
  return { ...result, body };
}

/** The number of the last event that the caller has seen, in the header that browsers send. */
function readLastEventId({ headers }: HttpRequest): number | null {
  const text = headers.get('last-event-id');
  if (text === null || text === '') return null;
  if (!/^\d{1,10}$/.test(text) || Number(text) > MAX_SEQ) throw apiError('invalidParams');
  return Number(text);
}

/** The text of the stream, piece by piece. The next piece is read when the one before it has been taken. */
async function* follow(
  parts: AppParts,
  authorized: Authorized,
  { after, type }: { readonly after: number } & Pick<Input, 'type'>,
  ended: AbortSignal,
): AsyncGenerator<string> {
  const { store, eventStreams } = parts;
  const context = { repositories: store.repositories, caller: authorized.caller };
  let last = after;
  let lookAgainAt = parts.monotonic() + HEARTBEAT_MS;
  // The number at once, so that a caller that is cut off before the first event comes back to the same place.
  yield `retry: ${RETRY_MS}\nid: ${last}\n\n`;
  for (;;) {
    const { items, meta } = await listEvents(context, { after: last, limit: PART, type });
    const isBehind = meta.last > last;
    const isDue = parts.monotonic() >= lookAgainAt;
    if ((isBehind || isDue) && !(await isStillValid(parts, authorized))) return;
    if (isDue) lookAgainAt = parts.monotonic() + HEARTBEAT_MS;
    last = Math.max(last, meta.last);
    const texts = items.map((event) => `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    // In one piece: between two of them a slow reader could outlive its token.
    const text = (isDue ? ': alive\n\n' : '') + texts.join('');
    if (text !== '') yield text;
    // Others than those of the wanted types need not be looked at again.
    if (isBehind && items.at(-1)?.seq !== last) yield `id: ${last}\n\n`;
    if (!isBehind && !(await eventStreams?.wait(ended))) return;
  }
}

/** How many streams may be open at one time, and of one token. */
const [MAX_STREAMS, MAX_STREAMS_PER_TOKEN] = [128, 16];

/** How long a stream waits without being notified: for what another replica has numbered. */
const LOOK_EVERY_MS = 500;

export type EventStreams = ReturnType<typeof createEventStreams>;

/** Limits how many streams of events are open at one time, and wakes them when there are more events. */
export function createEventStreams() {
  const open: string[] = [];
  const closed = new AbortController();
  let numbered = new AbortController();
  return {
    /** Takes one of the places of a token until the stream has ended; false when there is none. */
    enter(tokenId: string, ended: AbortSignal): boolean {
      const own = open.filter((one) => one === tokenId);
      if (open.length >= MAX_STREAMS || own.length >= MAX_STREAMS_PER_TOKEN) return false;
      open.push(tokenId);
      ended.addEventListener('abort', () => open.splice(open.indexOf(tokenId), 1));
      return true;
    },
    notify(): void {
      numbered.abort();
      numbered = new AbortController();
    },
    /** Resolves when there may be more events: to false when the stream is to end, as all are or by its signal. */
    async wait(ended: AbortSignal): Promise<boolean> {
      const signal = AbortSignal.any([ended, closed.signal, numbered.signal]);
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
      return !closed.signal.aborted && !ended.aborted;
    },
    close: (): void => closed.abort(),
  };
}
