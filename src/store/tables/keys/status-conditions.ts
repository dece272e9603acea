import { type RawBuilder, sql } from 'kysely';

// In the words of the partial indexes of the migrations, and without parameters in these: only so are they used.

/** Whether a key is neither blocked nor expired. */
export const isActive = (now: unknown) =>
  sql`licenses.vendor_disabled = 0 and (licenses.expires_at is null or licenses.expires_at > ${now})`;

/** Whether an active key has no devices. */
export const isUnused = (now: unknown) => sql`licenses.activations = 0 and ${isActive(now)}`;

/** Whether an active key has no slot left. */
export const isFull = (now: unknown) => sql`licenses.activations >= licenses.max_activations and ${isActive(now)}`;

/** Whether an active key ends in this span of time. */
export const isExpiring = (now: unknown, until: unknown) =>
  sql`licenses.vendor_disabled = 0 and licenses.expires_at > ${now} and licenses.expires_at <= ${until}`;

/** Whether a key that is not blocked has ended. */
export const isExpired = (now: unknown) => sql`licenses.vendor_disabled = 0 and licenses.expires_at <= ${now}`;

export const isBlocked: RawBuilder<unknown> = sql`licenses.vendor_disabled = 1`;

export const isTrial: RawBuilder<unknown> = sql`licenses.is_trial = 1`;
