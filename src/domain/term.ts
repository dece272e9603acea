import type { Instant } from '../contract/scalars.ts';
import type { License } from './license.ts';

/** Where an instant stands in the term of a licence. */
export type Term = 'running' | 'inGrace' | 'ended';

/** Where `now` stands in the term of a licence, which ends with the instant of its expiry. */
export function termOf(license: Pick<License, 'expirationDate'>, now: Instant): Term {
  return license.expirationDate === null || now < license.expirationDate ? 'running' : 'ended';
}
