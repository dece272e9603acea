import type { InputOf, PayloadOf, ResultOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { AccountId, Instant } from '../contract/scalars.ts';
import type { Token } from '../contract/tokens.ts';
import { scopesOf } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import { hashToken, mintToken } from '../domain/token.ts';
import type { Repositories } from '../store/store.ts';
import type { Context } from './context.ts';
import { readList } from './lists.ts';
import { actorOf, type Recorder, type UseCaseEvent } from './record.ts';

type Tokens = Contract['tokens'];

/** Lists the tokens of the account. */
export function listTokens(
  { repositories: { tokens }, caller: { accountId } }: Context,
  input: InputOf<Tokens['list']>,
): Promise<ResultOf<Tokens['list']>> {
  return readList(input, {
    part: (range) => tokens.list(accountId, range),
    count: () => tokens.count(accountId),
    all: () => tokens.listAll(accountId),
  });
}

/** Creates a token. That it may do no more than the token that creates it was checked before. */
export async function createToken(
  { repositories, caller, now, random, record }: Context,
  input: InputOf<Tokens['create']>,
): Promise<PayloadOf<Tokens['create']>> {
  const scopes = scopesOf(input.kind, input.scopes ?? []);
  const productIds = input.productIds ? [...new Set(input.productIds)] : null;
  if (input.expiresAt !== undefined && input.expiresAt <= now) throw apiError('invalidParams');
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
  record(tokenCreated(token));
  return { ...token, issued: token.maxIssues === null ? null : 0, revokedAt: null, createdAt: now, token: secret };
}

const tokenCreated = ({ id, kind, productIds, maxIssues, expiresAt }: NewTokenFacts): UseCaseEvent => ({
  type: 'token.created',
  resource: { type: 'token', id },
  data: { kind, productIds, maxIssues, expiresAt },
});

type NewTokenFacts = Pick<Token, 'id' | 'kind' | 'productIds' | 'maxIssues' | 'expiresAt'>;

/** Creates the admin token of a new account, and returns its secret, which is stored nowhere. */
export async function createFirstToken(
  repositories: Repositories,
  { accountId, now, random, record }: FirstTokenParts,
): Promise<string> {
  const secret = mintToken('admin', random(32));
  const token = {
    id: newId('tok', now, random(10)),
    name: 'first admin token',
    kind: 'admin',
    scopes: scopesOf('admin', []),
    productIds: null,
    maxIssues: null,
    expiresAt: null,
  } as const;
  await repositories.tokens.insert({ ...token, accountId, hash: hashToken(secret), now });
  await record(repositories, {
    accountId,
    at: now,
    actor: actorOf({ accountId, tokenId: null }),
    address: null,
    door: 'db',
    requestId: null,
    operation: 'tokens.create',
    events: [tokenCreated(token)],
  });
  return secret;
}

interface FirstTokenParts {
  readonly accountId: AccountId;
  readonly now: Instant;
  readonly record: Recorder;
  random(length: number): Uint8Array;
}

/** Revokes a token; the last admin token only with `force`, since no other token could create one. */
export async function revokeToken(
  { repositories, caller, now, record }: Context,
  { tokenId, force = false }: InputOf<Tokens['revoke']>,
): Promise<void> {
  const { accounts, tokens } = repositories;
  const token = await tokens.find(caller.accountId, tokenId);
  if (token === null) throw apiError('tokenNotFound');
  if (!force && token.kind === 'admin' && isLive(token, now)) {
    // Two admins that revoke each other at once take turns, so that the second one sees the first one's work.
    await accounts.lock(caller.accountId);
    if (!(await tokens.hasOtherAdmin(caller.accountId, tokenId, now))) throw apiError('lastAdminToken');
  }
  await tokens.revoke(caller.accountId, tokenId, now);
  record({ type: 'token.revoked', resource: { type: 'token', id: tokenId }, data: { kind: token.kind } });
}

/** Whether the token still authenticates. */
const isLive = ({ revokedAt, expiresAt }: Token, now: Token['createdAt']): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now);

/** Shows the token in use. The owner of a database in process has none, and is shown as an admin. */
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
