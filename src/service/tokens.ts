import type { PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { AccountId, Instant, TokenId } from '../contract/scalars.ts';
import { DEFAULT_TOKEN_DAYS, type Token, type tokens } from '../contract/tokens.ts';
import { type Caller, hasRightsOf, mayMint, scopesOf, seesToken } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import { isNetwork } from '../domain/networks.ts';
import { addSeconds } from '../domain/time.ts';
import { hashToken, mintToken } from '../domain/token.ts';
import type { Repositories } from '../store/store.ts';
import type { Context, UseCase } from './context.ts';
import { readAll, readList } from './lists.ts';
import { anyone, type Operations } from './operation.ts';
import { actorOf, RecordedRefusal, type Recorder, type UseCaseEvent } from './record.ts';

type Tokens = typeof tokens;

/** Lists the tokens of the account that the caller may know of. */
const listTokens: UseCase<Tokens['list']> = async ({ repositories: { tokens }, caller }, input) => {
  const { accountId } = caller;
  if (caller.productIds !== null) {
    const seen: Token[] = [];
    for await (const token of tokens.list(accountId).all()) if (seesToken(caller, token.productIds)) seen.push(token);
    return readAll(input, seen);
  }
  return readList(input, tokens.list(accountId));
};

/** Shows one token. */
const getToken: UseCase<Tokens['get']> = (context, { tokenId }) => findToken(context, tokenId);

/** A token of the account that the caller may know of. Throws ApiError `tokenNotFound`. */
export async function findToken({ repositories, caller }: Context, id: TokenId): Promise<Token> {
  const token = await repositories.tokens.find(caller.accountId, id);
  if (token === null || !seesToken(caller, token.productIds)) throw apiError('tokenNotFound');
  return token;
}

/** Creates a token. That it may do no more than the token that creates it was checked before. */
const createToken: UseCase<Tokens['create']> = async (context, input) => {
  const { repositories, caller, now } = context;
  const productIds = input.productIds ? [...new Set(input.productIds)] : null;
  const networks = input.networks ? [...new Set(input.networks)] : null;
  if (networks !== null && !networks.every(isNetwork)) throw apiError('invalidParams', { fields: ['networks'] });
  if (input.expiresAt != null && input.expiresAt <= now) throw apiError('invalidParams', { fields: ['expiresAt'] });
  for (const productId of productIds ?? []) {
    if ((await repositories.products.find(caller.accountId, productId)) === null) throw apiError('productNotFound');
  }
  const token = await addToken(context, {
    name: input.name,
    kind: input.kind,
    scopes: [...scopesOf(input.kind, input.scopes ?? [])],
    productIds,
    networks,
    maxIssues: input.maxIssues ?? null,
    rateLimit: input.rateLimit ?? caller.rateLimit,
    expiresAt:
      input.expiresAt === undefined ? noLaterThan(caller, addSeconds(now, DEFAULT_TTL_SECONDS)) : input.expiresAt,
  });
  context.record(tokenCreated(token));
  return token;
};

const DEFAULT_TTL_SECONDS = DEFAULT_TOKEN_DAYS * 86_400;

/** An instant, or the end of the caller's own rights if that is before. */
export const noLaterThan = ({ expiresAt }: Caller, instant: Instant): Instant =>
  expiresAt === null || instant < expiresAt ? instant : expiresAt;

/** What a token is made of besides its id and its secret. */
type NewRights = TokenFacts & Pick<Token, 'name' | 'scopes'>;

/** Adds a token with a new secret, which is shown this once; `budgetOf` is the token whose budget of keys it spends. */
export async function addToken(
  { repositories, caller, now, random }: Context,
  { name, kind, scopes, productIds, networks, maxIssues, rateLimit, expiresAt }: NewRights,
  budgetOf: string | null = null,
): Promise<PayloadOf<Tokens['create']>> {
  const id = newId('tok', now, random(10));
  const token = { id, name, kind, scopes, productIds, networks, maxIssues, rateLimit, expiresAt };
  const secret = mintToken(kind, random(32));
  await repositories.tokens.insert({ ...token, budgetOf, accountId: caller.accountId, hash: hashToken(secret), now });
  const issued = maxIssues === null ? null : 0;
  return { ...token, issued, revokedAt: null, lastUsedOn: null, createdAt: now, token: secret };
}

const tokenCreated = (token: TokenFacts & { readonly id: string }): UseCaseEvent => ({
  type: 'token.created',
  resource: { type: 'token', id: token.id },
  data: factsOf(token),
});

type TokenFacts = Pick<Token, 'kind' | 'productIds' | 'networks' | 'maxIssues' | 'rateLimit' | 'expiresAt'>;

/** What the record says of a new token. */
export const factsOf = ({ kind, productIds, networks, maxIssues, rateLimit, expiresAt }: TokenFacts) => ({
  kind,
  productIds,
  networks,
  maxIssues,
  rateLimit,
  expiresAt,
});

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
    networks: null,
    maxIssues: null,
    rateLimit: null,
    // Nobody else could make another one over the API.
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

/**
 * Revokes the token in use, or one that may do no more than it; the last admin token only with `force`, since no other
 * token could create one.
 */
export const revokeToken: UseCase<Tokens['revoke']> = async (context, { tokenId, force = false }) => {
  const { repositories, caller, now, record } = context;
  const { accounts, tokens } = repositories;
  const token = await findToken(context, tokenId);
  if (tokenId !== caller.tokenId && !hasRightsOf(caller, token)) throw rightsRefusal(token.id);
  if (!force && token.kind === 'admin' && isLive(token, now)) {
    // Two admins that revoke each other at once take turns, so that the second one sees the first one's work.
    await accounts.lock(caller.accountId);
    if (!(await tokens.hasOtherAdmin(caller.accountId, tokenId, now))) throw apiError('lastAdminToken');
  }
  await tokens.revoke(caller.accountId, tokenId, now);
  record({
    // Revoking it again changes nothing.
    ...(token.revokedAt === null && { type: 'token.revoked' }),
    resource: { type: 'token', id: tokenId },
    data: { kind: token.kind },
  });
};

/** The refusal, which is recorded, to touch a token that may do more than the caller. */
export const rightsRefusal = (id: string): RecordedRefusal =>
  new RecordedRefusal('scopeMissing', { resource: { type: 'token', id } });

/** Whether the token still authenticates. */
const isLive = ({ revokedAt, expiresAt }: Token, now: Token['createdAt']): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now);

/** Shows the token in use. The owner of a database in process has none, and is shown as an admin. */
async function showSelf({ repositories, caller, now }: Context): Promise<PayloadOf<Tokens['self']>> {
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
  networks: null,
  maxIssues: null,
  issued: null,
  rateLimit: null,
  expiresAt: null,
  revokedAt: null,
  lastUsedOn: null,
  createdAt: now,
});

/** The operations on tokens, but for rotating them. Those of a token that is limited to some products are the tokens of these. */
export const tokenOperations: Operations<Omit<typeof tokens, 'rotate'>> = {
  list: { perform: listTokens, authorize: anyone },
  get: { perform: getToken, authorize: anyone },
  create: {
    perform: createToken,
    authorize: (caller, { kind, scopes = [], productIds = null, networks = null, rateLimit, expiresAt }) => {
      const wanted = {
        kind,
        scopes: scopesOf(kind, scopes),
        productIds,
        networks,
        // What is not said follows the maker.
        rateLimit: rateLimit ?? caller.rateLimit,
        expiresAt: expiresAt === undefined ? caller.expiresAt : expiresAt,
      };
      return mayMint(caller, wanted) ? null : 'scopeMissing';
    },
    // The rights of the new token were filled in from those of its maker: only who may make such a token gets it.
    async authorizeReplay({ caller }, _, { payload }) {
      if (!mayMint(caller, payload())) throw apiError('scopeMissing');
    },
  },
  revoke: {
    perform: revokeToken,
    authorize: anyone,
    // The token was looked up with the rights of another.
    async authorizeReplay({ caller }) {
      if (caller.productIds !== null) throw apiError('tokenNotFound');
    },
  },
  self: { perform: showSelf, authorize: anyone },
};
