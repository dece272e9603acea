import type { Duration } from '../contract/fields.ts';
import type { Instant } from '../contract/scalars.ts';
import type { License } from './license.ts';
import { addDuration } from './time.ts';

/** Where an instant stands in the term of a licence. */
export type Term = 'running' | 'inGrace' | 'ended';

/** Where `now` stands in the term of a licence: it ends with the instant of its expiry, or of its grace period. */
export function termOf(license: Pick<License, 'expirationDate' | 'gracePeriod'>, now: Instant): Term {
  const { expirationDate } = license;
  if (expirationDate === null || now < expirationDate) return 'running';
  const until = graceUntil(license);
  return until !== null && now < until ? 'inGrace' : 'ended';
}

/** Until when an expired licence may still be used; null when it has no grace period, or no end. */
export function graceUntil({
  expirationDate,
  gracePeriod,
}: Pick<License, 'expirationDate' | 'gracePeriod'>): Instant | null {
  return expirationDate === null || gracePeriod === null ? null : addDuration(expirationDate, gracePeriod);
}

type Beginning = Pick<License, 'expirationDate' | 'expiresAfter'>;

/** Whether the licence has no end yet because its first use will set it. */
export function isWaiting(license: Beginning): license is Beginning & { readonly expiresAfter: Duration } {
  return license.expirationDate === null && license.expiresAfter !== null;
}

/** When the licence ends if it is used now: the first use sets the end of one that waits for it. Null means never. */
export function endIfUsed(license: Beginning, now: Instant): Instant | null {
  return isWaiting(license) ? addDuration(now, license.expiresAfter) : license.expirationDate;
}

/** The end of what is granted for a use now: that of the licence, or of its grace period once it has expired. */
export function grantEnd(license: License, now: Instant): Instant | null {
  return termOf(license, now) === 'inGrace' ? graceUntil(license) : license.expirationDate;
}

/** What whoever uses the licence in its grace period is told; null at any other time. */
export function graceWarning(license: License, now: Instant): string | null {
  if (termOf(license, now) !== 'inGrace') return null;
  return `License expired on ${license.expirationDate}; it may be used until ${graceUntil(license)}`;
}
