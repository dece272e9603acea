import { MAX_LEASE_SECONDS } from '../../contract/keys/licenses.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import { addSeconds, toInstant } from '../../domain/time.ts';
import { type Recorder, withoutRequest } from '../../service/record.ts';
import type { Repositories } from '../../store/store.ts';
import type { Job, JobContext } from './job.ts';

/** Stored responses are kept this long. Source: API description, "Common behavior: idempotency", 8. */
const KEEP_SECONDS = 24 * 60 * 60;

/** The first run after a start keeps records longer: the clock may be wrong now, or may have been wrong when they were made. */
const FIRST_KEEP_SECONDS = 7 * KEEP_SECONDS;

const RUN_EVERY_MS = 24 * 60 * 60 * 1_000;

const LOOK_EVERY_MS = 60_000;

/** If the wall clock moves this far relative to the steady clock, somebody has set it, and ages computed from it are wrong. */
const JUMP_MS = 60 * 60 * 1_000;

export const CLOCK_SLACK_SECONDS = JUMP_MS / 1_000;

/** How many records one transaction removes, which bounds how long other writes wait. */
const BATCH_SIZE = 500;

/** In milliseconds: the wall clock, which can be set, and a monotonic one. */
export interface Clocks {
  wall(): number;
  steady(): number;
}

/** A store or the context of a job. */
type Transactions = Pick<JobContext, 'transaction'>;

export type DueRun = 'first' | 'daily';

interface CleanupParts {
  readonly record: Recorder;
  readonly due: DueRun;
  readonly signal?: AbortSignal;
}

/**
 * Removes idempotency records older than 24 hours, and licence files that ended 24 hours ago, in small batches. Each batch
 * records how many it removed of each account. The first run after a start removes only records that are older than a week.
 * A daily run also ends leases whose end is impossibly late, set while the clock was wrong. Returns how many it removed.
 */
export async function cleanUp(store: Transactions, nowMs: number, parts: CleanupParts) {
  const at = toInstant(nowMs);
  const before = parts.due === 'daily' ? addSeconds(at, -KEEP_SECONDS) : await beforeFirst(store, at);
  if (before === null) return { idempotencyRecords: 0, licenseFiles: 0 };
  const idempotencyRecords = await removeAll(store, parts, { at, operation: 'idempotency.cleanup' }, (repositories) =>
    repositories.idempotency.removeOlder(before, BATCH_SIZE),
  );
  const licenseFiles = await removeAll(store, parts, { at, operation: 'revocations.cleanup' }, (repositories) =>
    repositories.files.removeEnded(before, BATCH_SIZE, at),
  );
  // After a day without a jump of the clock, each lease in use has been prolonged by the right time.
  const latest = addSeconds(at, MAX_LEASE_SECONDS + CLOCK_SLACK_SECONDS);
  if (parts.due === 'daily') await store.transaction(({ sessions }) => sessions.endLater(latest, at));
  return { idempotencyRecords, licenseFiles };
}

/**
 * The instant before which the first run removes records; null without records. A clock ahead of the newest record is not
 * trusted.
 */
async function beforeFirst(store: Transactions, now: Instant): Promise<Instant | null> {
  const newest = await store.transaction(({ idempotency }) => idempotency.newest());
  return newest === null ? null : addSeconds(newest < now ? newest : now, -FIRST_KEEP_SECONDS);
}

/** Removes batch after batch, and records each in its own transaction: an interrupted run leaves a record of all it removed. */
async function removeAll(
  store: Transactions,
  { record, signal }: CleanupParts,
  origin: { readonly at: Instant; readonly operation: string },
  removeBatch: (repositories: Repositories) => Promise<readonly AccountId[]>,
): Promise<number> {
  for (let removed = 0; ; ) {
    const accounts = await store.transaction(async (repositories) => {
      const batch = await removeBatch(repositories);
      for (const [accountId, own] of Map.groupBy(batch, (one) => one)) {
        const events = [{ resource: { type: 'account', id: accountId }, data: { removed: own.length } } as const];
        await record(repositories, { ...withoutRequest('job', 'cleanup'), ...origin, accountId, events });
      }
      return batch;
    });
    removed += accounts?.length ?? 0;
    if (accounts === null || accounts.length < BATCH_SIZE || signal?.aborted) return removed;
  }
}

/**
 * Decides when to clean up: once a day, and not within a day after the wall clock has jumped. The returned function claims
 * the due run; null if no run is due.
 */
export function createCleanupSchedule({ wall, steady }: Clocks): () => DueRun | null {
  let offset = wall() - steady();
  // The first run is due at once: a server that is restarted every night would otherwise never clean up.
  let due: DueRun = 'first';
  let lastRun = steady() - RUN_EVERY_MS;
  return () => {
    const moved = wall() - steady() - offset;
    if (Math.abs(moved) > JUMP_MS) {
      // The clock is trusted again after a day without a jump.
      offset += moved;
      lastRun = steady();
      due = 'daily';
    }
    if (steady() - lastRun < RUN_EVERY_MS) return null;
    lastRun = steady();
    const claimed = due;
    due = 'daily';
    return claimed;
  };
}

/** The job that cleans up once a day. After a failed run the next day brings another. */
export function cleanupJob(clocks: Clocks, parts: { readonly record: Recorder; onRecorded(): void }): Job {
  const claim = createCleanupSchedule(clocks);
  return {
    name: 'cleanup',
    everyMs: LOOK_EVERY_MS,
    async run(context) {
      const due = claim();
      if (due === null) return false;
      const removed = await cleanUp(context, clocks.wall(), { record: parts.record, due, signal: context.signal });
      parts.onRecorded();
      context.log.info({ removed }, 'cleaned up');
      return true;
    },
  };
}
