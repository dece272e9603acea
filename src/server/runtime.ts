import { randomBytes } from 'node:crypto';
import type { Fetch } from '../contract/endpoint.ts';
import type { AccountId } from '../contract/scalars.ts';
import { ownerOf } from '../domain/access.ts';
import { LOCK_TIMEOUT_MS } from '../store/database.ts';
import { StartupError } from '../store/errors.ts';
import type { AppParts } from './app-parts.ts';
import { type BaseOptions, openBase } from './base.ts';
import { createApp } from './http/app.ts';
import { fetchOf, LOOPBACK } from './http/in-process.ts';
import { signCheckpoints } from './jobs/checkpoints.ts';
import { sequenceNow } from './jobs/sequencer.ts';

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
