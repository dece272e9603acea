import { apiError } from '../contract/errors.ts';
import type { EventType, JsonObject } from '../contract/events.ts';
import type { Instant } from '../contract/scalars.ts';
import { changedFields } from '../domain/changed-fields.ts';
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

/** How a change is written, and what the record says of it besides the names of the fields. */
interface Change<T> {
  readonly type: EventType;
  readonly resource: UseCaseEvent['resource'];
  factsOf(state: T): JsonObject;
  write(updatedAt: Instant): Promise<T>;
}

/**
 * Writes what is given and differs, and returns the new state. Without a difference it is the same one, and no event: the
 * audit log alone has it. Called behind the lock.
 */
export async function writeChanges<T extends { readonly updatedAt: Instant }>(
  { now, record }: Context,
  before: T,
  given: { readonly [field in keyof T]?: unknown },
  { type, resource, factsOf, write }: Change<T>,
): Promise<T> {
  const changed = changedFields<keyof T & string>(before, given);
  const isSame = changed.length === 0;
  const after = isSame ? before : await write(changeInstant(now, before.updatedAt));
  record({ ...(!isSame && { type }), resource, data: { changed, ...factsOf(after) } });
  return after;
}
