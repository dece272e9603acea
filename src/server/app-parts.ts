import type { Instant } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import type { Door } from '../service/record.ts';
import type { AddressOf } from './http/client-address.ts';
import type { ConcurrencyLimit } from './http/concurrency-limit.ts';
import type { AuthorizedRead, ReadResult } from './http/execute.ts';
import type { RateLimiter } from './http/rate-limit.ts';
import type { Logger } from './log.ts';
import type { ObservedRequest } from './metrics.ts';
import type { PageSettings } from './pages/customer/settings.ts';
import type { Base } from './runtime.ts';

/** What the service is made of. Time and randomness come in with the base. */
export interface AppParts extends Omit<Base['parts'], 'realTime'> {
  readonly log: Logger;
  readonly door: Door;
  readonly limiter: RateLimiter | null;
  readonly addressOf: AddressOf;
  noteUse?(caller: Caller, now: Instant): void;
  /** Called after each commit of what was recorded, which may still wait for its numbers. */
  onRecorded?(): void;
  /** Bounds the requests that run at one time; without it they have no bound. */
  readonly concurrencyLimit?: ConcurrencyLimit;
  /** The thread that reads many rows; without it they are read in the thread that serves everybody. */
  readonly reading?: { read(request: AuthorizedRead, input: unknown): Promise<ReadResult> } | undefined;
  /** The page of customers; absent where no server runs. */
  readonly page?: PageSettings | undefined;
  onRequest?: ((request: ObservedRequest) => void) | undefined;
  /** The owner of a database that is opened in process, known by the header `Authorization`. */
  readonly owner?: { readonly caller: Caller; sends(authorization: string | null): boolean };
}
