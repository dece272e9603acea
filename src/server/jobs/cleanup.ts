import type { AccountId, Instant } from '../../contract/scalars.ts';
import { addSeconds, toInstant } from '../../domain/time.ts';
import type { Recorder } from '../../service/record.ts';
import type { Repositories } from '../../store/store.ts';
import type { Job } from './job.ts';

/** Stored responses are kept this long. Source: API description, "Common behavior: idempotency", 8. */
const KEEP_SECONDS = 24 * 60 * 60;

const RUN_EVERY_MS = 24 * 60 * 60 * 1_000;

/** How often the clocks are compared. */
const LOOK_EVERY_MS = 60_000;

/** A wall clock that has moved this far relative to the steady one was set: ages computed from it are wrong. */
const JUMP_MS = 60 * 60 * 1_000;

/** Records that one transaction removes: other writes wait no longer than for these. */
const BATCH_SIZE = 500;

/** Two clocks, in milliseconds: the wall clock, which can be set, and a monotonic one. */
export interface Clocks {
  wall(): number;
  steady(): number;
}

/** Where batches are removed: a store, or a job, whose transactions are null while another replica holds its lease. */
interface Transactions {
  transaction<T>(work: (repositories: Repositories) => Promise<T>): Promise<T | null>;
}

/** What a cleanup has removed. */
interface Removed {
  readonly idempotencyRecords: number;
  readonly licenseFiles: number;
}

/** What a cleanup needs besides the store. */
interface CleanupParts {
  readonly record: Recorder;
  readonly signal?: AbortSignal;
}

/**
 * Removes idempotency records older than 24 hours, and licence files that ended 24 hours ago, in small batches. Each
 * batch records how many it removed of each account.
 */
export async function cleanUp(store: Transactions, nowMs: number, parts: CleanupParts): Promise<Removed> {
  const at = toInstant(nowMs);
  const before = addSeconds(at, -KEEP_SECONDS);
  return {
    idempotencyRecords: await removeAll(store, parts, {
      at,
      operation: 'idempotency.cleanup',
      removeBatch: ({ idempotency }) => idempotency.removeOlder(before, BATCH_SIZE),
    }),
    licenseFiles: await removeAll(store, parts, {
      at,
      operation: 'revocations.cleanup',
      removeBatch: ({ files }) => files.removeEnded(before, BATCH_SIZE, at),
    }),
  };
}

interface Removal {
  readonly at: Instant;
  readonly operation: string;
  /** Returns the account of each thing that it removed. */
  removeBatch(repositories: Repositories): Promise<readonly AccountId[]>;
}

async function removeAll(store: Transactions, { record, signal }: CleanupParts, removal: Removal): Promise<number> {
  let removed = 0;
  for (let isLast = false; !isLast; ) {
    const accounts = await store.transaction(async (repositories) => {
      const batch = await removal.removeBatch(repositories);
      await recordRemoval(repositories, record, removal, batch);
      return batch;
    });
    if (accounts === null) break;
    removed += accounts.length;
    isLast = accounts.length < BATCH_SIZE || signal?.aborted === true;
  }
  return removed;
}

/** Records one batch in its own transaction: also a run that is cut short leaves a record of all that it removed. */
async function recordRemoval(
  repositories: Repositories,
  record: Recorder,
  { at, operation }: Removal,
  accounts: readonly AccountId[],
): Promise<void> {
  const actor = { type: 'job', id: 'cleanup' } as const;
  const origin = { at, actor, address: null, door: 'job', requestId: null, operation } as const;
  for (const [accountId, own] of Map.groupBy(accounts, (accountId) => accountId)) {
    const events = [{ resource: { type: 'account', id: accountId }, data: { removed: own.length } } as const];
    await record(repositories, { ...origin, accountId, events });
  }
}

/**
 * Decides when to clean up: once a day, and not in a day in which the wall clock has jumped. The function that it returns
 * counts each true as the run of the day.
 */
export function createCleanupSchedule({ wall, steady }: Clocks): () => boolean {
  let offset = wall() - steady();
  // The first run is due at once: a server that is restarted every night would otherwise never clean up.
  let lastRun = steady() - RUN_EVERY_MS;
  return () => {
    const jumped = Math.abs(wall() - steady() - offset) > JUMP_MS;
    if (jumped) {
      // A new day begins here, from which on the clock is trusted again.
      offset = wall() - steady();
      lastRun = steady();
    }
    if (steady() - lastRun < RUN_EVERY_MS) return false;
    lastRun = steady();
    return true;
  };
}

/** The job that cleans up once a day. After a failed run the next day brings another. */
export function cleanupJob(clocks: Clocks, parts: { readonly record: Recorder; onRecorded(): void }): Job {
  return {
    name: 'cleanup',
    everyMs: LOOK_EVERY_MS,
    claimRun: createCleanupSchedule(clocks),
    async run(context) {
      const removed = await cleanUp(context, clocks.wall(), { record: parts.record, signal: context.signal });
      parts.onRecorded();
      context.log.info({ removed }, 'cleaned up');
    },
  };
}
