import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { instantsOf } from '../domain/time.ts';
import { openAccount } from '../service/accounts.ts';
import { createRandom, createSigners, type KeyPair } from '../service/context.ts';
import { numberEntries } from '../service/numbering.ts';
import { createRecorder } from '../service/record.ts';
import type { OpenOptions } from '../store/engine/driver.ts';
import type { MasterKey } from '../store/secret-box.ts';
import { openStore } from '../store/store.ts';
import { createExactlyOnce } from './idempotency/exactly-once.ts';
import { sequenceNow } from './jobs/sequencer.ts';
import type { TestClock } from './test-clock.ts';

/** Milliseconds since 1970: a function that gives them, or a clock that a test moves. */
export type Clock = (() => number) | TestClock;

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
    // Numbers entries that an earlier process has left, before new entries.
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

export interface BaseOptions extends OpenOptions {
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
