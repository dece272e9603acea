import { type Event, type EventType, events } from '../contract/events.ts';
import type { Part } from '../contract/reply.ts';
import { MAX_SEQ } from '../contract/scalars.ts';
import { call } from './call.ts';
import { readOptions } from './client.ts';
import { isCallError } from './errors.ts';
import type { ClientOptions } from './options.ts';
import { isTransient } from './retries.ts';

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
  { after, type, signal, onAway }: FollowOptions,
): AsyncGenerator<readonly Event[], void> {
  const context = readOptions({ ...options, maxRetries: 0 });
  const read = async (input: object) =>
    (await call(context, events.list, input, { signal })) as Part<Event, { readonly last: number }>;
  let last = after ?? null;
  let failures = 0;
  let told: string | null = null;
  while (!signal?.aborted) {
    let waitMs = WAIT_MS;
    try {
      const { items, meta } = await read(
        last === null ? { after: MAX_SEQ, limit: 1 } : { after: last, type, limit: MAX_PART },
      );
      if (told !== null) await onAway?.(null);
      failures = 0;
      told = null;
      // A shorter range of numbers means that the last event is reached.
      if (last !== null && meta.last - last >= MAX_PART) waitMs = 0;
      last = meta.last;
      if (items.length > 0) yield items;
    } catch (error) {
      if (signal?.aborted) return;
      if (!isCallError(error) || !isTransient(error)) throw error;
      if (told !== error.message) await onAway?.(error);
      told = error.message;
      const askedMs = ('retryAfterMs' in error && error.retryAfterMs) || 0;
      waitMs = Math.max(askedMs, Math.min(MAX_WAIT_MS, WAIT_MS * 2 ** failures));
      failures += 1;
    }
    if (waitMs > 0) await context.timing.sleep(waitMs, signal).catch(() => {});
  }
}
