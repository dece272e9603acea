import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { AccountId, Instant } from '../contract/scalars.ts';
import type { Token } from '../contract/tokens.ts';
import { type Caller, mayMint, scopesOf } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import { hashToken, mintToken } from '../domain/token.ts';
import type { Repositories } from '../store/store.ts';
import type { Context } from './context.ts';

type Tokens = Contract['tokens'];

/** Lists the tokens of the account. */
export function listTokens({ repositories, caller }: Context): Promise<PayloadOf<Tokens['list']>> {
  return repositories.tokens.list(caller.accountId);
}

/** Creates a token that may do no more than its maker. */
export async function createToken(
  { repositories, caller, now, random }: Context,
  input: InputOf<Tokens['create']>,
): Promise<PayloadOf<Tokens['create']>> {
  const scopes = scopesOf(input.kind, input.scopes ?? []);
  const productIds = input.productIds ?? null;
  if (!mayCreateToken(caller, input)) throw apiError('scopeMissing');
  for (const productId of productIds ?? []) {
    if ((await repositories.products.find(caller.accountId, productId)) === null) throw apiError('productNotFound');
  }
  const token = {
    id: newId('tok', now, random(10)),
    name: input.name,
    kind: input.kind,
    scopes: [...scopes],
    productIds,
    maxIssues: input.maxIssues ?? null,
    expiresAt: input.expiresAt ?? null,
  };
  const secret = mintToken(input.kind, random(32));
  await repositories.tokens.insert({ ...token, accountId: caller.accountId, hash: hashToken(secret), now });
  return { ...token, issued: token.maxIssues === null ? null : 0, revokedAt: null, createdAt: now, token: secret };
}

/** Creates the admin token of a new account, and returns its secret, which is stored nowhere. */
export async function createFirstToken(
  repositories: Repositories,
  { accountId, now, random }: { accountId: AccountId; now: Instant; random(length: number): Uint8Array },
): Promise<string> {
  const secret = mintToken('admin', random(32));
  await repositories.tokens.insert({
    accountId,
    id: newId('tok', now, random(10)),
    hash: hashToken(secret),
    name: 'first admin token',
    kind: 'admin',
    scopes: scopesOf('admin', []),
    productIds: null,
    maxIssues: null,
    expiresAt: null,
    now,
  });
  return secret;
}

/** Whether the caller may make the token it asks for. */
export function mayCreateToken(caller: Caller, input: InputOf<Tokens['create']>): boolean {
  return mayMint(caller, {
    scopes: scopesOf(input.kind, input.scopes ?? []),
    productIds: input.productIds ?? null,
    expiresAt: input.expiresAt ?? null,
  });
}

/** Revokes a token. */
export async function revokeToken(
  { repositories, caller, now }: Context,
  { tokenId }: InputOf<Tokens['revoke']>,
): Promise<void> {
  if (!(await repositories.tokens.revoke(caller.accountId, tokenId, now))) throw apiError('tokenNotFound');
}

/** Shows the token that asks; the owner of a database in process has none, and is shown as one that may do all. */
export async function showSelf({ repositories, caller, now }: Context): Promise<PayloadOf<Tokens['self']>> {
  const token =
    caller.tokenId === null
      ? owner(caller.accountId, now)
      : await repositories.tokens.find(caller.accountId, caller.tokenId);
  if (token === null) throw apiError('invalidToken');
  return token;
}

const owner = (accountId: string, now: Token['createdAt']): Token => ({
  id: accountId,
  name: 'owner of the database',
  kind: 'admin',
  scopes: [...scopesOf('admin', [])],
  productIds: null,
  maxIssues: null,
  issued: null,
  expiresAt: null,
  revokedAt: null,
  createdAt: now,
});
