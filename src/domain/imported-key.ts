import type { Instant } from '../contract/scalars.ts';
import { idTime } from './ids.ts';
import { EPOCH, expiryAfter } from './time.ts';

/** The fields of an imported key that are checked. */
interface ImportedKey {
  readonly id?: string | undefined;
  readonly createdAt?: Instant | undefined;
  readonly expirationDate?: Instant | null | undefined;
  readonly renewalDay?: number | null | undefined;
  readonly revokedAt?: Instant | null | undefined;
  readonly devices?: readonly { readonly activationTime?: Instant | undefined }[] | undefined;
}

/**
 * The first field with an instant before 1970 or in the future, or with an id that does not match `createdAt`; empty without
 * such a field.
 */
export function wrongFields(key: ImportedKey, now: Instant): string[] {
  const { id, createdAt = now, expirationDate, renewalDay, revokedAt, devices = [] } = key;
  const isPast = (at: Instant) => at >= EPOCH && at <= now;
  if (!isPast(createdAt)) return ['createdAt'];
  if (revokedAt != null && !isPast(revokedAt)) return ['revokedAt'];
  // The month of the end has no such day, and the end is the last day of that month.
  const led = expirationDate == null ? null : expiryAfter(expirationDate, {}, renewalDay);
  const isCutShort = led?.renewalDay != null && led.expirationDate === expirationDate;
  if (renewalDay != null && !isCutShort) return ['renewalDay'];
  if (!devices.every(({ activationTime = now }) => isPast(activationTime))) return ['devices'];
  return id !== undefined && idTime(id) !== createdAt ? ['id'] : [];
}
