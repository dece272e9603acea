import { apiError } from '../contract/errors.ts';
import type { Instant } from '../contract/scalars.ts';
import { type Changes, differences } from '../domain/changes.ts';
import { changeInstant } from '../domain/time.ts';
import type { Context } from './context.ts';
import type { UseCaseEvent } from './record.ts';

/**
 * Throws ApiError `stale` when something was changed after the caller looked. Called behind its lock, so that of several
 * such changes at once one happens. Source: decision 0049.
 */
export function refuseStale({ updatedAt }: { readonly updatedAt: Instant }, ifUpdatedAt: Instant | undefined): void {
  if (ifUpdatedAt !== undefined && ifUpdatedAt !== updatedAt) throw apiError('stale', { updatedAt });
}

interface Change<T> {
  write(changes: Partial<T> & { readonly updatedAt: Instant }): Promise<T>;
  describe(after: T, changed: readonly (keyof T & string)[]): UseCaseEvent;
}

/**
 * Writes what is given and differs, and returns the new state. Without a difference it is the same one, and no event: the
 * audit log alone has it. Called behind the lock.
 */
export async function writeChanges<T extends { readonly updatedAt: Instant }>(
  { now, record }: Context,
  before: T,
  given: Changes<T>,
  { write, describe }: Change<T>,
): Promise<T> {
  const changes = differences(before, given);
  const changed = Object.keys(changes) as (keyof T & string)[];
  if (changed.length === 0) {
    const { type: _, ...entry } = describe(before, changed);
    record(entry);
    return before;
  }
  const after = await write({ ...changes, updatedAt: changeInstant(now, before.updatedAt) });
  record(describe(after, changed));
  return after;
}
