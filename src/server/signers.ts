import type { AccountId } from '../contract/scalars.ts';
import { createSigner, type Signer } from '../domain/license-file.ts';
import type { Repositories } from '../store/store.ts';

/** Finds the key that signs an account's licence files now. */
export type SignerOf = (repositories: Repositories, accountId: AccountId) => Promise<Signer>;

/** Asks the store which key is current, and reads each private key once. */
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
