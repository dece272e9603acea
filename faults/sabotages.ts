import fs, { type StatSyncOptions } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import threads, { type WorkerOptions } from 'node:worker_threads';
import pg from 'pg';
import { createExactlyOnce, type ExactlyOnce, type IdempotencyClaim } from '../src/server/idempotency/exactly-once.ts';
import { FINGERPRINT_VERSION } from '../src/server/idempotency/fingerprint.ts';
import { OutcomeUnknown, StorageError } from '../src/store/errors.ts';
import { deriveKey, openResponse, type StoredResponse, sealResponse } from '../src/store/response-sealing.ts';
import { NONCE_BYTES } from '../src/store/secret-box.ts';
import type { Repositories, Store } from '../src/store/store.ts';
import type { IdempotencyRecord } from '../src/store/tables/idempotency.ts';
import type { ServerSetup } from './stage.ts';

type Random = (length: number) => Uint8Array;

/** A protection that is taken away: a mistake that somebody could make. Without more it is made in a scenario. */
interface Sabotaged {
  readonly about: string;
  /** Changes what the server runs on, before the database is opened. */
  readonly drivers?: () => void;
  readonly webhooks?: ServerSetup['webhooks'];
  readonly createExactlyOnce?: (store: Store, random: Random) => ExactlyOnce;
}

/** How long what a sabotaged server does too late comes after its answer. */
const LATE_MS = 5;

const table = {
  'new-key-on-retry': { about: 'the client gives each attempt a key of its own' },
  'backup-of-tomorrow': { about: 'a backup has to hold what came after it' },

  'no-retry': { about: 'an event that a webhook has not accepted is not sent again', webhooks: { schedule: [] } },

  'synchronous-normal': {
    about: 'SQLite commits without waiting for the disk',
    drivers: () => replaceInSql('synchronous=FULL', 'synchronous=NORMAL'),
  },
  'copied-unsynced': {
    about: 'the thread that copies the log does not wait for the disk',
    drivers: () => replaceInThread('synchronous=FULL', 'synchronous=OFF'),
  },
  'lock-by-path': { about: 'a file is locked under its name only', drivers: lockByPath },
  'commit-warning-ignored': {
    about: 'a commit that was answered with a warning counts as any other',
    drivers: ignoreNotices,
  },

  'early-answer': {
    about: 'the answer is sent before the commit',
    createExactlyOnce: (store, random) => createExactlyOnce(answeringEarly(store), random),
  },
  'unknown-as-failed': {
    about: 'a commit without an answer counts as one that failed',
    createExactlyOnce: (store, random) => createExactlyOnce(believingFailure(store), random),
  },
  'recorded-later': {
    about: 'what a mutation did is recorded after its commit',
    createExactlyOnce: withRepositories(({ outbox }, store) => ({
      outbox: {
        ...outbox,
        async insert(row) {
          const late = () => store.transaction((repositories) => repositories.outbox.insert(row)).catch(() => {});
          setTimeout(late, LATE_MS);
        },
      },
    })),
  },
  'sent-early': {
    about: 'events are sent before the commit of what they tell of',
    createExactlyOnce: withRepositories(sendEarly),
  },
  'replays-unconfirmed': {
    about: 'a response is repeated without waiting for the standby',
    createExactlyOnce: (store, random) =>
      createExactlyOnce(
        { ...store, transaction: (work) => store.transaction((all) => work({ ...all, confirm: async () => {} })) },
        random,
      ),
  },
  'no-stored-answer': {
    about: 'no answer is stored under the key',
    createExactlyOnce: (store) => async (_claim, perform) => ({
      ...(await store.transaction(perform)),
      replayed: false,
    }),
  },
  'answer-stored-later': {
    about: 'the answer is stored in a transaction of its own',
    createExactlyOnce: (store, random) => async (claim, perform) => {
      const known = await store.transaction((repositories) => findResponse(repositories, claim));
      if (known !== null) return { ...known, replayed: true };
      const response = await store.transaction(perform);
      await store.transaction((repositories) => repositories.idempotency.insert(recordOf(claim, response, random)));
      return { ...response, replayed: false };
    },
  },
} satisfies Readonly<Record<string, Sabotaged>>;

export type Sabotage = keyof typeof table;

/** What can be taken away. */
export const sabotages: Readonly<Record<Sabotage, Sabotaged>> = table;

/** Changes what is sent to SQLite by `exec`. */
export function replaceInSql(before: string | RegExp, after: string): void {
  const exec = DatabaseSync.prototype.exec;
  DatabaseSync.prototype.exec = function (sql) {
    exec.call(this, sql.replace(before, after));
  };
}

/** Changes what a thread sends to SQLite by `exec`. */
function replaceInThread(before: string, after: string): void {
  const Worker = threads.Worker;
  const code = `
    import { DatabaseSync } from 'node:sqlite';
    const exec = DatabaseSync.prototype.exec;
    DatabaseSync.prototype.exec = function (sql) {
      exec.call(this, sql.replace(${JSON.stringify(before)}, ${JSON.stringify(after)}));
    };`;
  threads.Worker = class extends Worker {
    constructor(file: string | URL, options?: WorkerOptions) {
      super(file, { ...options, execArgv: ['--import', `data:text/javascript,${encodeURIComponent(code)}`] });
    }
  };
  syncBuiltinESMExports();
}

/** Leaves the lock beside the file, and takes none on the file; its other names are not seen, and its loss neither. */
function lockByPath(): void {
  replaceInSql('locking_mode=EXCLUSIVE', 'locking_mode=NORMAL');
  const lstat = fs.lstatSync;
  const value = (path: string, options?: StatSyncOptions) => {
    const found = lstat(path, options);
    return found && Object.assign(found, { nlink: typeof found.nlink === 'bigint' ? 1n : 1 });
  };
  Object.defineProperty(fs, 'lstatSync', { value });
  syncBuiltinESMExports();
}

function ignoreNotices(): void {
  const emit = pg.Client.prototype.emit;
  pg.Client.prototype.emit = function (event: string | symbol, ...given: unknown[]) {
    return event !== 'notice' && emit.call(this, event, ...given);
  };
}

function answeringEarly(store: Store): Store {
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

function believingFailure(store: Store): Store {
  return {
    ...store,
    transaction: (work) =>
      store.transaction(work).catch((error: unknown) => {
        throw error instanceof OutcomeUnknown ? new StorageError(error) : error;
      }),
  };
}

/** Has use cases work with some repositories that are changed. */
function withRepositories(change: (repositories: Repositories, store: Store) => Partial<Repositories>) {
  return (store: Store, random: Random): ExactlyOnce => {
    const exactlyOnce = createExactlyOnce(store, random);
    return (claim, perform) =>
      exactlyOnce(claim, (repositories) => perform({ ...repositories, ...change(repositories, store) }));
  };
}

/** Sends what is recorded to every webhook, with the number that it might get. */
function sendEarly({ outbox, webhooks, recordHeads }: Repositories): Partial<Repositories> {
  return {
    outbox: {
      ...outbox,
      async insert(row) {
        await outbox.insert(row);
        const head = await recordHeads.find(row.accountId);
        for await (const { url } of webhooks.list(row.accountId).all()) {
          const body = JSON.stringify({ seq: (head?.eventSeq ?? 0) + 1, id: 'evt_early' });
          void fetch(url, { method: 'POST', body }).catch(() => {});
        }
        await sleep(LATE_MS);
      },
    },
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
