import type { AccountId, Instant } from '../contract/scalars.ts';
import type { Repositories } from '../store/store.ts';

/** Something that happened to an account, as it is recorded. */
export interface RecordedEvent {
  readonly accountId: AccountId;
  /** A new id with the prefix `aud`. */
  readonly id: string;
  /** What was done, as `resource.operation`. */
  readonly action: string;
  /** Who did it. */
  readonly actor: string;
  /** What it was done to. */
  readonly subject: string;
  /** Neither secrets nor keys. */
  readonly details: Readonly<Record<string, string>>;
  readonly at: Instant;
}

/** Records an event, in the transaction of what happened. */
export async function record(repositories: Pick<Repositories, 'audit'>, event: RecordedEvent): Promise<void> {
  const { accountId, at, ...entry } = event;
  await repositories.audit.insert(accountId, { ...entry, createdAt: at });
}
