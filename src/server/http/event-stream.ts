import type { InputOf, PayloadOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import { streamEvents } from '../../contract/event-stream.ts';
import { MAX_SEQ } from '../../contract/fields.ts';
import type { Contract } from '../../contract/index.ts';
import type { Caller } from '../../domain/access.ts';
import { listEvents } from '../../service/events.ts';
import type { AppParts } from '../app-parts.ts';
import { isStillValid } from './authenticate.ts';
import type { AuthorizedRequest, ReadResult } from './execute.ts';
import { readInput } from './input.ts';
import type { HttpRequest, HttpResponse } from './messages.ts';
import { handleRequest } from './pipeline.ts';

type Input = InputOf<typeof streamEvents>;
type Events = PayloadOf<Contract['events']['list']>;

/** Events that are read at one time. */
const PART = 100;

/** How often a caller is shown that the stream is alive, and its token is looked at also when nothing happens, in milliseconds. */
const HEARTBEAT_MS = 15_000;

/** When a caller is to come back that has lost the stream, in milliseconds. */
const RETRY_MS = 1_000;

/** The second one for proxies that would hold the stream back until it ends. */
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };

const route = { name: 'events.stream', endpoint: streamEvents, looksUpKey: false, maxAgeSeconds: 0 } as const;

/** When a caller is to come back that found no place, in seconds. */
const FULL_RETRY_SECONDS = '5';

/** Handles `GET /event/stream`: sends events as they happen. Without `eventStreams` (in process) it sends the existing events and ends. */
export async function handleStream(parts: AppParts, request: HttpRequest): Promise<HttpResponse> {
  const response = await handleRequest(parts, route, request, open);
  const { status, headers } = response;
  if (status === 200) return { ...response, headers: { ...headers, ...STREAM_HEADERS } };
  if (status !== 429) return response;
  return { ...response, headers: { 'Retry-After': FULL_RETRY_SECONDS, ...headers } };
}

type Authorized = AuthorizedRequest<typeof route>;

async function open(parts: AppParts, authorized: Authorized): Promise<ReadResult> {
  const { httpRequest, caller } = authorized;
  if (caller.productIds !== null) throw apiError('scopeMissing');
  const { type, after }: Input = readInput(streamEvents, httpRequest, new Uint8Array());
  const from = readLastEventId(httpRequest) ?? after ?? (await endOf(parts, caller));
  const result = { status: 200, replayed: false } as const;
  if (httpRequest.method === 'HEAD') return { ...result, body: '' };
  const tokenId = caller.tokenId ?? '';
  if (parts.eventStreams?.enter(tokenId) === false) throw apiError('rateLimited');
  const ended = new AbortController();
  const leave = () => {
    if (ended.signal.aborted) return;
    ended.abort();
    parts.eventStreams?.leave(tokenId);
  };
  return { ...result, body: leaving(follow(parts, authorized, { after: from, type }, ended.signal), leave) };
}

/** The number of the last event that the caller has seen, in the header that browsers send. */
function readLastEventId({ headers }: HttpRequest): number | null {
  const text = headers.get('last-event-id');
  if (text === null || text === '') return null;
  if (!/^\d{1,10}$/.test(text) || Number(text) > MAX_SEQ) throw apiError('invalidParams');
  return Number(text);
}

async function endOf({ store }: AppParts, { accountId }: Caller): Promise<number> {
  return (await store.repositories.recordHeads.find(accountId))?.eventSeq ?? 0;
}

/**
 * The text of the stream, piece by piece. The next piece is read when the one before it has been taken.
 *
 * @param ended aborted when nobody takes what comes
 */
async function* follow(
  parts: AppParts,
  authorized: Authorized,
  { after, type }: { readonly after: number } & Pick<Input, 'type'>,
  ended: AbortSignal,
): AsyncGenerator<string> {
  const { store, eventStreams } = parts;
  const { caller } = authorized;
  let last = after;
  let lookAgainAt = parts.monotonic() + HEARTBEAT_MS;
  // The number at once, so that a caller that is cut off before the first event comes back to the same place.
  yield `retry: ${RETRY_MS}\nid: ${last}\n\n`;
  for (;;) {
    // Also while the caller is behind: who reads slowly must not outlive the token.
    if (parts.monotonic() >= lookAgainAt) {
      lookAgainAt = parts.monotonic() + HEARTBEAT_MS;
      if (!(await isStillValid(parts, authorized))) return;
      yield ': alive\n\n';
    }
    const { items, meta } = await listEvents(
      { repositories: store.repositories, caller },
      { after: last, limit: PART, type },
    );
    const isBehind = meta.last > last;
    if (isBehind && !(await isStillValid(parts, authorized))) return;
    last = Math.max(last, meta.last);
    if (items.length > 0) yield items.map(write).join('');
    // Others than those of the wanted types need not be looked at again.
    if (isBehind && items.at(-1)?.seq !== last) yield `id: ${last}\n\n`;
    if (isBehind) continue;
    if (eventStreams === undefined || !(await eventStreams.wait(ended))) return;
  }
}

const write = (event: Events['items'][number]): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Calls `leave` when the last piece was taken, or nobody takes any more, also while the next piece is waited for. */
function leaving(stream: AsyncIterator<string>, leave: () => void): AsyncIterable<string> {
  const ended = { done: true, value: undefined } as const;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const next = await stream.next();
          if (next.done) leave();
          return next;
        } catch (error) {
          leave();
          throw error;
        }
      },
      async return() {
        leave();
        return ended;
      },
    }),
  };
}
