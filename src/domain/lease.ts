import type { Instant } from '../contract/scalars.ts';
import { addSeconds } from './time.ts';

/** When a session that reported itself at `now` ends, unless it does so again. */
export function leaseEnd(now: Instant, leaseSeconds: number): Instant {
  return addSeconds(now, leaseSeconds);
}
