import fs, { type StatSyncOptions } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createExactlyOnce, type ExactlyOnce, type IdempotencyClaim } from '../src/server/idempotency/exactly-once.ts';
import { FINGERPRINT_VERSION } from '../src/server/idempotency/fingerprint.ts';
import type { Recorder } from '../src/service/record.ts';
import { OutcomeUnknown, StorageError } from '../src/store/errors.ts';
import { deriveKey, openResponse, type StoredResponse, sealResponse } from '../src/store/response-sealing.ts';
import { NONCE_BYTES } from '../src/store/secret-box.ts';
import { isPostgres, type Repositories, type Store } from '../src/store/store.ts';
import type { IdempotencyRecord } from '../src/store/tables/idempotency.ts';

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
  'replay-of-another': 'a retry gets the response of another request',
  'stored-clear': 'keys and responses are stored as they are',
  'lock-by-path': 'a file is locked under its name only',
  'unbounded-connections': 'requests of a connection begin at once, and nothing bounds what it holds',
  'endless-drain': 'a server that stops waits for every connection',
  'log-throws': 'a log line that cannot be written is an error of its request',
  'losses-uncounted': 'log lines that are lost are not counted',
  'recorded-later': 'what a mutation did is recorded after its commit',
  'sent-early': 'events are sent before the commit of what they tell of',
  'refused-is-final': 'a webhook whose connection is refused is not tried again',
  'run-per-start': 'each start of a bulk command is a run of its own',
  'event-skipped': 'who follows events begins one too late',
  'backup-of-tomorrow': 'a backup has to hold what came after it',
} as const;

export type Sabotage = keyof typeof sabotages;

type Random = (length: number) => Uint8Array;

/** Takes the protection away in this server; some are taken away elsewhere, and change nothing here. */
export function sabotage(
  name: Sabotage | null,
  { store, random, record }: { readonly store: Store; readonly random: Random; readonly record: Recorder },
  db: string,
): { store: Store; exactlyOnce: ExactlyOnce; record?: Recorder } {
  const withStore = (changed: Store) => ({ store: changed, exactlyOnce: createExactlyOnce(changed, random) });
  switch (name) {
    case 'early-answer':
      return withStore(answerEarly(store));
    case 'count-then-insert':
      return withStore(countThenInsert(store, isPostgres(db)));
    case 'unknown-as-failed':
      return withStore(believeFailure(store));
    case 'recorded-later':
      return { ...withStore(store), record: recordLater(store, record) };
    case 'no-stored-answer':
      return { store, exactlyOnce: forgetful(store) };
    case 'answer-stored-later':
      return { store, exactlyOnce: storeLater(store, random) };
    case 'check-then-act':
      return { store, exactlyOnce: checkThenAct(store, random) };
    case 'replay-of-another':
      return { store, exactlyOnce: mixUpReplays(store, random) };
    case 'stored-clear':
      return { store, exactlyOnce: storeClear(store, random) };
    default:
      return withStore(store);
  }
}

/** What has to be changed before the database is opened. */
export function sabotageDrivers(name: Sabotage | null): void {
  if (name === 'lock-by-path') lockByPath();
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

/** Leaves the lock beside the file, and takes none on the file; its other names are not seen, and its loss neither. */
function lockByPath(): void {
  const exec = DatabaseSync.prototype.exec;
  DatabaseSync.prototype.exec = function (sql) {
    exec.call(this, sql.replace('locking_mode=EXCLUSIVE', 'locking_mode=NORMAL'));
  };
  const lstat = fs.lstatSync;
  const value = (path: string, options?: StatSyncOptions) => {
    const found = lstat(path, options);
    return found && Object.assign(found, { nlink: typeof found.nlink === 'bigint' ? 1n : 1 });
  };
  Object.defineProperty(fs, 'lstatSync', { value });
  syncBuiltinESMExports();
}

/** Records each mutation in a transaction of its own, which comes after that of the mutation. */
function recordLater(store: Store, record: Recorder): Recorder {
  return async (_, mutation) => {
    setTimeout(() => void store.transaction((repositories) => record(repositories, mutation)).catch(() => {}), LATE_MS);
  };
}

/** How long the sabotaged commit comes after its answer. */
const LATE_MS = 5;

function answerEarly(store: Store): Store {
  return {
    ...store,
    transaction: (work) =>
      new Promise((resolve, reject) => {
        const late = async (repositories: Repositories) => {
          resolve(await work(repositories));
          await sleep(LATE_MS);
        };
        store.transaction(late).catch(reject);
      }),
  };
}

/** SQLite runs one transaction at a time: there, counting inside it would be as good as not being wrong. */
function countThenInsert(store: Store, countInside: boolean): Store {
  const counting = (repositories: Repositories): Repositories => ({
    ...repositories,
    keys: {
      ...repositories.keys,
      // The rules look at the slots too.
      ...(!countInside && { findWithCustomer: store.repositories.keys.findWithCustomer }),
      takeSlot: async (license, now) => {
        const { accountId, productId, key, maxActivations } = license;
        const seen = countInside ? license : await store.repositories.keys.find(accountId, productId, key);
        if (maxActivations !== null && (seen?.activations ?? 0) >= maxActivations) return false;
        await repositories.keys.freeSlots(license, -1, now);
        return true;
      },
    },
  });
  return { ...store, transaction: (work) => store.transaction((repositories) => work(counting(repositories))) };
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

/** The record of a claim whose request was given this response. */
function recordOf(claim: IdempotencyClaim, response: StoredResponse, random: Random): IdempotencyRecord {
  const { accountId, tokenId, fingerprint, method, path, now } = claim;
  const { hash, sealingKey } = deriveKey(accountId, claim.key);
  return {
    accountId,
    keyHash: hash,
    fingerprintVersion: FINGERPRINT_VERSION,
    fingerprint,
    state: 'completed',
    method,
    path,
    tokenId,
    response: sealResponse(response, sealingKey, { accountId, fingerprint, tokenId }, random(NONCE_BYTES)),
    createdAt: now,
  };
}

/** The response that is stored under the key of a claim, if there is one. */
async function findResponse({ idempotency }: Repositories, claim: IdempotencyClaim): Promise<StoredResponse | null> {
  const { hash, sealingKey } = deriveKey(claim.accountId, claim.key);
  const record = await idempotency.find(claim.accountId, hash);
  return record?.response == null ? null : openResponse(record.response, sealingKey, record);
}

const forgetful =
  (store: Store): ExactlyOnce =>
  async (_claim, perform) => ({ ...(await store.transaction(perform)), replayed: false });

const storeLater =
  (store: Store, random: Random): ExactlyOnce =>
  async (claim, perform) => {
    const known = await store.transaction((repositories) => findResponse(repositories, claim));
    if (known !== null) return { ...known, replayed: true };
    const response = await store.transaction(perform);
    await store.transaction((repositories) => repositories.idempotency.insert(recordOf(claim, response, random)));
    return { ...response, replayed: false };
  };

const checkThenAct =
  (store: Store, random: Random): ExactlyOnce =>
  async (claim, perform) => {
    const known = await findResponse(store.repositories, claim);
    if (known !== null) return { ...known, replayed: true };
    return store.transaction(async (repositories) => {
      const response = await perform(repositories);
      // Another may have stored one meanwhile; that must not undo what has been performed.
      await repositories
        .nested(() => repositories.idempotency.insert(recordOf(claim, response, random)))
        .catch(() => {});
      return { ...response, replayed: false };
    });
  };

/** Replays the response of the request before, whichever that was. */
function mixUpReplays(store: Store, random: Random): ExactlyOnce {
  const exactlyOnce = createExactlyOnce(store, random);
  const recent: StoredResponse[] = [];
  return async (claim, perform) => {
    const result = await exactlyOnce(claim, perform);
    if (result.replayed) return { ...(recent[0] ?? result), replayed: true };
    recent.push(result);
    if (recent.length > 2) recent.shift();
    return result;
  };
}

/** Stores keys and responses as they are. */
function storeClear(store: Store, random: Random): ExactlyOnce {
  const clear = (text: string) => text as IdempotencyRecord['keyHash'] & IdempotencyRecord['response'];
  return async (claim, perform) =>
    store.transaction(async (repositories) => {
      const record = await repositories.idempotency.find(claim.accountId, clear(claim.key));
      if (record?.response != null) return { ...JSON.parse(record.response), replayed: true };
      const response = await perform(repositories);
      await repositories.idempotency.insert({
        ...recordOf(claim, response, random),
        keyHash: clear(claim.key),
        response: clear(JSON.stringify(response)),
      });
      return { ...response, replayed: false };
    });
}
