import { type Event, type EventType, events } from '../contract/events.ts';
import type { Part } from '../contract/reply.ts';
import { MAX_SEQ } from '../contract/scalars.ts';
import { type CallContext, call } from './call.ts';
import { readOptions } from './client.ts';
import { type CallError, isCallError } from './errors.ts';
import type { ClientOptions } from './options.ts';
import { isTransient, retryAfterOf } from './retries.ts';

/** The filters and the end of following. */
export interface FollowOptions {
  /** The number of the event after which to begin; default: new events only. */
  readonly after?: number | undefined;
  /** Only events of these types. */
  readonly type?: readonly EventType[] | undefined;
  /** Called when the service goes away, with each new reason, and with null when it is back. */
  readonly onAway?: ((why: Error | null) => unknown) | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** How long to wait before the next request, and at most while the service is away, in milliseconds. */
const [WAIT_MS, MAX_WAIT_MS] = [1_000, 10_000];

const MAX_PART = 1_000;

/**
 * Follows the events of an account: `for await (const event of followEvents({ baseUrl, token }, { after }))`. It asks
 * `GET /event/list` every second; each event comes once, in the order of the numbers. While the service is away it asks
 * again, for as long as it takes, and goes on after the last event. Rejects with `ApiError`, `ProtocolError` or
 * `InputError`, or with `NetworkError` when asking again cannot help.
 */
export async function* followEvents(options: ClientOptions, follow: FollowOptions = {}): AsyncGenerator<Event, void> {
  for await (const events of followParts(options, follow)) yield* events;
}

/** Follows events in batches, as they come. */
export async function* followParts(
  options: ClientOptions,
  follow: FollowOptions,
): AsyncGenerator<readonly Event[], void> {
  const context = readOptions({ ...options, maxRetries: 0 });
  const { after, type, signal } = follow;
  let last = after ?? null;
  while (!signal?.aborted) {
    const input = last === null ? { after: MAX_SEQ, limit: 1 } : { after: last, type, limit: MAX_PART };
    const part = await readPart(context, input, follow);
    if (part === null) return;
    // A shorter range of numbers means that the last event is reached.
    const isAtEnd = last === null || part.meta.last - last < MAX_PART;
    last = part.meta.last;
    if (part.items.length > 0) yield part.items;
    if (isAtEnd) await sleep(context, WAIT_MS, signal);
  }
}

/** Reads once; while the service is away, again for as long as it takes. Returns null when the signal ends it. */
async function readPart(
  context: CallContext,
  input: object,
  { signal, onAway }: FollowOptions,
): Promise<Part<Event, { readonly last: number }> | null> {
  let told: string | null = null;
  for (let waitMs = WAIT_MS; ; waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)) {
    try {
      const part = await call(context, events.list, input, { signal });
      if (told !== null) await onAway?.(null);
      return part as Part<Event, { readonly last: number }>;
    } catch (error) {
      if (signal?.aborted) return null;
      if (!isAway(error)) throw error;
      if (told !== error.message) await onAway?.(error);
      told = error.message;
      await sleep(context, Math.max(retryAfterOf(error) ?? 0, waitMs), signal);
    }
  }
}

const isAway = (error: unknown): error is CallError => isCallError(error) && isTransient(error);

const sleep = ({ timing }: CallContext, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  timing.sleep(ms, signal).catch(() => {});
