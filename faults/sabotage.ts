import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createExactlyOnce, type ExactlyOnce } from '../src/server/idempotency/exactly-once.ts';
import { FINGERPRINT_VERSION } from '../src/server/idempotency/fingerprint.ts';
import { isPostgres } from '../src/store/engine/database.ts';
import { OutcomeUnknown, StorageError } from '../src/store/engine/storage-error.ts';
import type { Repositories, Store } from '../src/store/store.ts';

/** What can be taken away. Each is a mistake that somebody could make. */
export const sabotages = {
  'new-key-on-retry': 'the client gives each attempt a key of its own',
  'early-answer': 'the answer is sent before the commit',
  'no-stored-answer': 'no answer is stored under the key',
  'answer-stored-later': 'the answer is stored in a transaction of its own',
  'check-then-act': 'the key is looked up before the transaction, and claimed by nobody',
  'count-then-insert': 'slots are counted first and taken after',
  'commit-tag-ignored': 'a commit that is answered with ROLLBACK counts as a commit',
  'unknown-as-failed': 'a commit without an answer counts as one that failed',
  'synchronous-normal': 'SQLite commits without waiting for the disk',
  'clock-believed': 'the cleanup believes whatever the clock says',
} as const;

export type Sabotage = keyof typeof sabotages;

/** Takes the protection away in this server; some are taken away elsewhere, and change nothing here. */
export function sabotage(name: Sabotage | null, store: Store, db: string): { store: Store; exactlyOnce: ExactlyOnce } {
  switch (name) {
    case 'early-answer':
      return withStore(answerEarly(store));
    case 'count-then-insert':
      return withStore(countThenInsert(store, isPostgres(db)));
    case 'unknown-as-failed':
      return withStore(believeFailure(store));
    case 'no-stored-answer':
      return { store, exactlyOnce: forgetful(store) };
    case 'answer-stored-later':
      return { store, exactlyOnce: storeLater(store) };
    case 'check-then-act':
      return { store, exactlyOnce: checkThenAct(store) };
    default:
      return withStore(store);
  }
}

/** What has to be changed before the database is opened. */
export function sabotageDrivers(name: Sabotage | null): void {
  if (name === 'synchronous-normal') {
    const exec = DatabaseSync.prototype.exec;
    DatabaseSync.prototype.exec = function (sql) {
      exec.call(this, sql.replace('synchronous=FULL', 'synchronous=NORMAL'));
    };
  }
  if (name === 'commit-tag-ignored') {
    const prototype = pg.Client.prototype as unknown as { query(...given: unknown[]): unknown };
    const query = prototype.query;
    prototype.query = function (...given: unknown[]) {
      const result = query.apply(this, given);
      return given[0] === 'COMMIT' ? (result as Promise<object>).then(() => ({ command: 'COMMIT' })) : result;
    };
  }
}

const withStore = (store: Store) => ({ store, exactlyOnce: createExactlyOnce(store) });

/** How long the sabotaged commit comes after its answer. */
const LATE_MS = 5;

function answerEarly(store: Store): Store {
  return {
    ...store,
    transaction: (work) =>
      new Promise((resolve, reject) => {
        const late = async (rows: Repositories) => {
          resolve(await work(rows));
          await sleep(LATE_MS);
        };
        store.transaction(late).catch(reject);
      }),
  };
}

/** SQLite runs one transaction at a time: there, counting inside it would be as good as not being wrong. */
function countThenInsert(store: Store, countInside: boolean): Store {
  const counting = (rows: Repositories): Repositories => ({
    ...rows,
    keys: {
      ...rows.keys,
      takeSlot: async (license, now) => {
        const { accountId, productId, key, maxActivations } = license;
        const seen = countInside ? license : await store.repositories.keys.find(accountId, productId, key);
        if (maxActivations !== null && (seen?.activations ?? 0) >= maxActivations) return false;
        await rows.keys.freeSlots(license, -1, now);
        return true;
      },
    },
  });
  return { ...store, transaction: (work) => store.transaction((rows) => work(counting(rows))) };
}

function believeFailure(store: Store): Store {
  return {
    ...store,
    transaction: (work) =>
      store.transaction(work).catch((error: unknown) => {
        throw error instanceof OutcomeUnknown ? new StorageError(error) : error;
      }),
  };
}

type Claim = Parameters<ExactlyOnce>[0];
type Record = Parameters<Repositories['idempotency']['insert']>[0];

const recordOf = (claim: Claim, answer: Record['answer']): Record => ({
  accountId: claim.accountId,
  key: claim.key,
  fingerprintVersion: FINGERPRINT_VERSION,
  fingerprint: claim.fingerprint,
  state: 'completed',
  method: claim.method,
  path: claim.path,
  answer,
  createdAt: claim.now,
});

const forgetful =
  (store: Store): ExactlyOnce =>
  async (_claim, perform) => ({ ...(await store.transaction(perform)), replayed: false });

const storeLater =
  (store: Store): ExactlyOnce =>
  async (claim, perform) => {
    const known = await store.transaction((rows) => rows.idempotency.find(claim.accountId, claim.key));
    if (known?.answer != null) return { ...known.answer, replayed: true };
    const answer = await store.transaction(perform);
    await store.transaction((rows) => rows.idempotency.insert(recordOf(claim, answer)));
    return { ...answer, replayed: false };
  };

const checkThenAct =
  (store: Store): ExactlyOnce =>
  async (claim, perform) => {
    const known = await store.repositories.idempotency.find(claim.accountId, claim.key);
    if (known?.answer != null) return { ...known.answer, replayed: true };
    return store.transaction(async (rows) => {
      const answer = await perform(rows);
      // Another may have stored one meanwhile; that must not undo what has been performed.
      await rows.nested(() => rows.idempotency.insert(recordOf(claim, answer))).catch(() => {});
      return { ...answer, replayed: false };
    });
  };
