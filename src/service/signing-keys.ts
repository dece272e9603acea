import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { AccountId } from '../contract/scalars.ts';
import { createSigner, type Signer, toJwk } from '../domain/license-file/sign.ts';
import type { Repositories } from '../store/store.ts';
import type { Context } from './context.ts';

type Jwks = Contract['signingKeys']['jwks'];

/** The public keys of one account, by default of the oldest. */
export async function listPublicKeys({ repositories }: Context, { account }: InputOf<Jwks>): Promise<PayloadOf<Jwks>> {
  const accountId = account ?? (await repositories.accounts.oldest())?.id;
  const pems = accountId === undefined ? [] : await repositories.signingKeys.listPublic(accountId);
  if (pems.length === 0) throw apiError('accountNotFound');
  return { keys: pems.map(toJwk) };
}

/** Finds the key that signs an account's licence files now. */
export type SignerOf = (repositories: Repositories, accountId: AccountId) => Promise<Signer>;

/** Looks up the current key at each call, and parses each private key once. */
export function createSigners(): SignerOf {
  const known = new Map<string, Signer>();
  return async (repositories, accountId) => {
    const current = await repositories.signingKeys.current(accountId);
    if (current === null) throw new Error(`account ${accountId} has no signing key`);
    const signer = known.get(current.kid) ?? createSigner(current.privatePem);
    known.set(current.kid, signer);
    return signer;
  };
}
