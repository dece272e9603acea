import { apiError } from '../contract/errors.ts';
import type { Instant } from '../contract/scalars.ts';
import { type Changes, differences } from '../domain/changes.ts';
import { changeInstant } from '../domain/time.ts';
import type { Context } from './context.ts';
import type { UseCaseEvent } from './record.ts';

/** Throws ApiError `stale` if the row has changed since `ifUpdatedAt`. The caller has locked the row. Source: decision 0049. */
export function refuseStale({ updatedAt }: { readonly updatedAt: Instant }, ifUpdatedAt: Instant | undefined): void {
  if (ifUpdatedAt !== undefined && ifUpdatedAt !== updatedAt) throw apiError('stale', { updatedAt });
}

interface Change<T> {
  readonly given: Changes<T>;
  write(changes: Partial<T> & { readonly updatedAt: Instant }): Promise<T>;
  describe(after: T, changed: readonly (keyof T & string)[]): UseCaseEvent;
}

/** Writes the values that differ, and returns the new row. Without a difference only an audit row is written. The caller has locked the row. */
export async function writeChanges<T extends { readonly updatedAt: Instant }>(
  { now, record }: Context,
  before: T,
  { given, write, describe }: Change<T>,
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
