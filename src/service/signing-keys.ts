import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import { toJwk } from '../domain/license-file/sign.ts';
import type { Context } from './context.ts';

type Jwks = Contract['signingKeys']['jwks'];

/** The public keys of one account, by default of the oldest. */
export async function listPublicKeys({ repositories }: Context, { account }: InputOf<Jwks>): Promise<PayloadOf<Jwks>> {
  const accountId = account ?? (await repositories.accounts.oldest())?.id;
  const pems = accountId === undefined ? [] : await repositories.signingKeys.listPublic(accountId);
  if (pems.length === 0) throw apiError('accountNotFound');
  return { keys: pems.map(toJwk) };
}
