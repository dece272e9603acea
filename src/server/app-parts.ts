import type { Instant } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import type { Door } from '../service/record.ts';
import type { Base } from './base.ts';
import type { AuthorizedRead, ReadResult } from './http/authorized-request.ts';
import type { AddressOf } from './http/client-address.ts';
import type { RateLimiter } from './http/rate-limit.ts';
import type { Logger } from './log.ts';
import type { ObservedRequest } from './metrics.ts';
import type { PageSettings } from './pages/customer/settings.ts';
import type { Places } from './places.ts';

/** The parts of the service. The base brings the clock and random numbers. */
export interface AppParts extends Omit<Base['parts'], 'realTime'> {
  readonly log: Logger;
  readonly door: Door;
  readonly limiter: RateLimiter | null;
  readonly addressOf: AddressOf;
  noteUse?(caller: Caller, now: Instant): void;
  /** Called after each commit with recorded entries, which may not be numbered yet. */
  onRecorded?(): void;
  /** Limits how many requests run at one time; absent: no limit. */
  readonly places?: Places;
  /** The thread for reads of many rows; absent: such reads run on the main thread. */
  readonly reading?: { read(request: AuthorizedRead, input: unknown): Promise<ReadResult> } | undefined;
  /** The page of customers; absent where no server runs. */
  readonly page?: PageSettings | undefined;
  onRequest?: ((request: ObservedRequest) => void) | undefined;
  /** The owner of a database opened in process, authenticated by the header `Authorization`. */
  readonly owner?: { readonly caller: Caller; sends(authorization: string | null): boolean };
}
