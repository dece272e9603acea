import { randomFillSync } from 'node:crypto';
import type { InputOf, ResultOf } from '../contract/endpoint.ts';
import type { AccountId, Instant } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import type { IpAddress } from '../domain/ip-address.ts';
import type { Signer } from '../domain/license-file/jws.ts';
import { createSigner } from '../domain/license-file/sign.ts';
import type { Repositories } from '../store/store.ts';
import type { UseCaseEvent } from './record.ts';

/** Everything that a use case works with. Mutations get the repositories of their transaction. Nothing here uses the network. */
export interface Context {
  readonly repositories: Repositories;
  readonly caller: Caller;
  readonly now: Instant;
  readonly ipAddress: IpAddress;
  random(length: number): Uint8Array;
  /** Records an event in the same transaction, under the name of the operation. */
  record(event: UseCaseEvent): void;
  /** Reports how many keys the caller's token may still issue; sent as a header of the response. */
  reportRemainingBudget(remaining: number): void;
  /** The current signing key of an account; by default, of the caller's account. */
  signer(accountId?: AccountId): Promise<Signer>;
  newKeyPair(): KeyPair;
  /** Where customers find their page, without a slash at the end; null where no server runs. */
  readonly pageUrl: string | null;
  readonly webhooks: {
    /** Whether webhooks may be sent to private addresses. */
    readonly allowPrivate: boolean;
  };
}

/** A use case: from the input of an authorized request to the payload of the reply. Throws ApiError to refuse. */
export type UseCase<E> = (context: Context, input: InputOf<E>) => Promise<ResultOf<E>>;

/** A new Ed25519 key pair, PEM. */
export interface KeyPair {
  readonly privatePem: string;
  readonly publicPem: string;
}

/** Finds the key that signs an account's licence files now. */
export type SignerOf = (repositories: Repositories, accountId: AccountId) => Promise<Signer>;

/** Looks up the current key at each call, and parses each private key once. */
export function createSigners(): SignerOf {
  const known = new Map<string, Signer>();
  return async (repositories, accountId) => {
    const current = await repositories.signingKeys.current(accountId);
    if (current === null) throw new Error(`account ${accountId} has no signing key`);
    try {
      const signer = known.get(current.kid) ?? createSigner(current.privatePem);
      known.set(current.kid, signer);
      return signer;
    } catch (cause) {
      throw new Error(`the signing key ${current.kid} of account ${accountId} is damaged`, { cause });
    }
  };
}

/** How many bytes are drawn at once; many small draws would cost more. */
const POOL_BYTES = 4_096;

/** A source of unpredictable bytes. Each byte is handed out once and wiped from the pool. */
export function createRandom(): (length: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let next = POOL_BYTES;
  return (length) => {
    if (next + length > POOL_BYTES) {
      randomFillSync(pool);
      next = 0;
    }
    const bytes = pool.slice(next, next + length);
    pool.fill(0, next, next + length);
    next += length;
    return bytes;
  };
}
