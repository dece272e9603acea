import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { Fetch } from '../contract/endpoint.ts';
import type { AccountId } from '../contract/scalars.ts';
import { ownerOf } from '../domain/access.ts';
import { instantsOf } from '../domain/time.ts';
import { openAccount } from '../service/accounts.ts';
import { createRandom, createSigners, type KeyPair } from '../service/context.ts';
import { numberEntries } from '../service/numbering.ts';
import { createRecorder } from '../service/record.ts';
import { LOCK_TIMEOUT_MS } from '../store/database.ts';
import type { OpenOptions } from '../store/engine/driver.ts';
import { StartupError } from '../store/errors.ts';
import type { MasterKey } from '../store/secret-box.ts';
import { openStore } from '../store/store.ts';
import type { AppParts } from './app-parts.ts';
import { createApp } from './http/app.ts';
import { fetchOf, LOOPBACK } from './http/in-process.ts';
import { createExactlyOnce } from './idempotency/exactly-once.ts';
import { signCheckpoints } from './jobs/checkpoints.ts';
import { sequenceNow } from './jobs/sequencer.ts';
import type { TestClock } from './test-clock.ts';

/** The service inside this process. */
export interface Instance {
  readonly fetch: Fetch;
  /** The token of the database's owner, valid in this instance until it is closed. */
  readonly ownerToken: string;
  readonly accountId: AccountId;
  readonly created: boolean;
  /** Why the database failed last, in words for a person; null when it did not, or the cause is not known. */
  readonly failure: StartupError | null;
  close(): Promise<void>;
}

/** Milliseconds since 1970: a function that gives them, or a clock that a test moves. */
export type Clock = (() => number) | TestClock;

type InstanceOptions = Omit<BaseOptions, 'allowPrivate'> & { readonly db: string; readonly clock?: () => number };

/**
 * Opens the service on a database without a socket; requests and responses are the same as over the network. A new
 * database gets its account and its signing key. Waits for another command on the same file, unless `waitMs` is less.
 *
 * @throws StartupError when the database cannot be used
 */
export async function openInstance({ db, clock, ...options }: InstanceOptions): Promise<Instance> {
  const { store, parts, accountId, created } = await openBase(db, { waitMs: LOCK_TIMEOUT_MS, ...options }, clock);
  let failure: StartupError | null = null;
  // A silent log, without loading pino.
  const log: AppParts['log'] = {
    info() {},
    warn() {},
    error(line: unknown) {
      const told = store.explain(Object(line).err);
      failure = told instanceof StartupError ? told : null;
    },
  };
  const ownerToken = randomBytes(32).toString('base64url');
  const app = createApp({
    ...parts,
    log,
    door: 'db',
    limiter: null,
    addressOf: () => LOOPBACK,
    owner: { sends: (authorization) => authorization === `Bearer ${ownerToken}`, caller: ownerOf(accountId) },
  });
  return {
    fetch: fetchOf(app),
    ownerToken,
    get failure() {
      return failure;
    },
    accountId,
    created,
    async close() {
      try {
        await sequenceNow(store);
        // A checkpoint that cannot be signed now is left to the next command or server.
        await signCheckpoints(store, store.transaction, parts).catch(() => {});
      } finally {
        await store.close();
      }
    },
  };
}

export type Base = Awaited<ReturnType<typeof openBase>>;

/** Opens the parts that an instance and a server share: the database with its account, the clock, random numbers. */
export async function openBase(db: string, open: BaseOptions, clock: Clock = Date.now) {
  const { masterKey = null, allowPrivate = false, ...options } = open;
  const random = createRandom();
  const store = await openStore(db, { ...options, sealing: { masterKey, random } });
  try {
    const testClock = typeof clock === 'object' ? clock : undefined;
    const wall = typeof clock === 'object' ? clock.now : clock;
    const now = instantsOf(wall);
    const record = createRecorder(random);
    // Numbers entries that an earlier process has left, before new ones.
    await sequenceNow(store);
    const numbersInCommit = store.numberInCommit(numberEntries);
    const account = await openAccount(store, { now: now(), random, newKeyPair, record });
    return {
      ...account,
      store,
      /** Whether entries are numbered in their commit; else the sequencer numbers them. */
      numbersInCommit,
      /** `monotonic` is never a test clock. */
      clocks: { wall, steady: testClock?.now ?? monotonic, monotonic },
      parts: {
        store,
        /** Set where a test moves the clock; `POST /_test/clock` is there only then. */
        testClock,
        now,
        monotonic,
        /** The clock of this machine, never a test clock. */
        realTime: instantsOf(Date.now),
        random,
        newKeyPair,
        newRequestId: (): string => randomUUID(),
        signerOf: createSigners(),
        record,
        exactlyOnce: createExactlyOnce(store, random),
        webhooks: { allowPrivate },
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Milliseconds since this process began: `performance` would be loaded for the same. */
const monotonic = (): number => process.uptime() * 1_000;

interface BaseOptions extends OpenOptions {
  /** Whether webhooks may be sent to addresses that are not public. */
  readonly allowPrivate?: boolean;
  readonly masterKey?: MasterKey | null;
}

function newKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privatePem: privateKey, publicPem: publicKey };
}
