import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { refuse } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import { toJwk } from '../domain/license-file.ts';
import type { Context } from './context.ts';

type Jwks = Contract['signingKeys']['jwks'];

/** The public keys of one account, by default of the oldest. */
export async function listPublicKeys({ rows }: Context, { account }: InputOf<Jwks>): Promise<PayloadOf<Jwks>> {
  const accountId = account ?? (await rows.accounts.oldest())?.id;
  const pems = accountId === undefined ? [] : await rows.signingKeys.listPublic(accountId);
  if (pems.length === 0) throw refuse('accountNotFound');
  return { keys: pems.map(toJwk) };
}
