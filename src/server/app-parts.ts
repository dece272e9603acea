import type { Logger } from 'pino';
import type { Instant } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import type { Context, KeyPair, SignerOf } from '../service/context.ts';
import type { Door, Recorder } from '../service/record.ts';
import type { Store } from '../store/store.ts';
import type { AddressOf } from './http/client-address.ts';
import type { ConcurrencyLimit } from './http/concurrency-limit.ts';
import type { EventStreams } from './http/event-stream.ts';
import type { RateLimiter } from './http/rate-limit.ts';
import type { ExactlyOnce } from './idempotency/exactly-once.ts';
import type { ObservedRequest } from './metrics.ts';
import type { TestClock } from './test-clock.ts';

/** What the service is made of. Time and randomness come in here. */
export interface AppParts {
  readonly store: Store;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly door: Door;
  readonly limiter: RateLimiter | null;
  readonly addressOf: AddressOf;
  noteUse?(caller: Caller, now: Instant): void;
  readonly signerOf: SignerOf;
  readonly record: Recorder;
  /** Called after each commit of what was recorded: it waits for its numbers. */
  onRecorded?(): void;
  readonly exactlyOnce: ExactlyOnce;
  readonly webhooks: Context['webhooks'];
  /** Limits streams of events, and wakes them; without it they end with what there is. */
  readonly eventStreams?: EventStreams;
  /** Bounds the requests that run at one time; without it they have no bound. */
  readonly concurrencyLimit?: ConcurrencyLimit;
  onRequest?: ((request: ObservedRequest) => void) | undefined;
  /** Set where a test moves the clock; `POST /_test/clock` is there only then. */
  readonly testClock?: TestClock | undefined;
  /** The owner of a database that is opened in process, known by the header `Authorization`, or by its absence. */
  readonly owner?: { readonly caller: Caller; sends(authorization: string | null): boolean };
  now(): Instant;
  /** Milliseconds, by a clock that nobody sets. */
  monotonic(): number;
  random(length: number): Uint8Array;
  newKeyPair(): KeyPair;
  newRequestId(): string;
}
