import { apiError } from '../contract/errors.ts';
import type { Instant } from '../contract/scalars.ts';

/**
 * Throws ApiError `stale` when something was changed after the caller looked. Called behind its lock, so that of several
 * such changes at once one happens. Source: decision 0051.
 */
export function refuseStale({ updatedAt }: { readonly updatedAt: Instant }, ifUpdatedAt: Instant | undefined): void {
  if (ifUpdatedAt !== undefined && ifUpdatedAt !== updatedAt) throw apiError('stale', { updatedAt });
}
