import type { InputOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { AccountId, Instant } from '../contract/scalars.ts';
import { DEFAULT_TOKEN_DAYS, type Token } from '../contract/tokens.ts';
import { type Caller, scopesOf, type unrestricted } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import { isNetwork } from '../domain/ip-address.ts';
import { addSeconds } from '../domain/time.ts';
import { hashToken, mintToken } from '../domain/token.ts';
import type { Context } from './context.ts';
import { orThrow } from './operation.ts';
import { eventOf, type UseCaseEvent } from './record.ts';

export type NewToken = InputOf<Contract['tokens']['create']>;

/** The rights of a new token; missing rights come from the caller. Throws ApiError `invalidParams` or `productNotFound`. */
export async function rightsOf({ repositories, caller, now }: Context, input: NewToken): Promise<Rights> {
  const productIds = input.productIds ? [...new Set(input.productIds)] : null;
  const networks = input.networks ? [...new Set(input.networks)] : null;
  if (networks !== null && !networks.every(isNetwork)) throw apiError('invalidParams', { fields: ['networks'] });
  refusePast(input.expiresAt, now);
  for (const productId of productIds ?? []) {
    orThrow(await repositories.products.find(caller.accountId, productId), 'productNotFound');
  }
  return {
    name: input.name,
    kind: input.kind,
    scopes: [...scopesOf(input.kind, input.scopes ?? [])],
    productIds,
    networks,
    maxIssues: input.maxIssues ?? null,
    rateLimit: input.rateLimit ?? caller.rateLimit,
    expiresAt:
      input.expiresAt === undefined ? noLaterThan(caller, addSeconds(now, DEFAULT_TTL_SECONDS)) : input.expiresAt,
  };
}

const DEFAULT_TTL_SECONDS = DEFAULT_TOKEN_DAYS * 86_400;

/** An instant, or the end of the caller's own rights if that is before. */
export const noLaterThan = ({ expiresAt }: Caller, instant: Instant): Instant =>
  expiresAt === null || instant < expiresAt ? instant : expiresAt;

export function refusePast(expiresAt: Instant | null | undefined, now: Instant): void {
  if (expiresAt != null && expiresAt <= now) throw apiError('invalidParams', { fields: ['expiresAt'] });
}

type Restrictions = Pick<Token, keyof typeof unrestricted>;

type Inserting = Pick<Context, 'repositories' | 'now' | 'random'>;

type Rights = Restrictions & Pick<Token, 'name' | 'kind' | 'scopes'>;

/** Adds a token with a new secret, which is shown once; `budgetOf` is the token whose `maxIssues` it counts against. */
export async function addToken(
  context: Inserting,
  accountId: AccountId,
  rights: Rights,
  budgetOf: string | null = null,
) {
  const secret = mintToken(rights.kind, context.random(32));
  const made = await insertToken(context, accountId, { ...rights, hash: hashToken(secret), budgetOf });
  if (made === null) throw new Error('a new token has the secret of another one');
  return { ...made, token: secret };
}

/** Null when another token has that secret. */
export async function insertToken(
  { repositories, now, random }: Inserting,
  accountId: AccountId,
  {
    hash,
    budgetOf = null,
    name,
    kind,
    scopes,
    ...rights
  }: Rights & { readonly hash: string; readonly budgetOf?: string | null },
): Promise<Token | null> {
  const token = { id: newId('tok', now, random(10)), name, kind, scopes, ...restrictionsOf(rights) };
  if (!(await repositories.tokens.insert({ ...token, budgetOf, accountId, hash, now }))) return null;
  const issued = token.maxIssues === null ? null : 0;
  return { ...token, issued, revokedAt: null, lastUsedOn: null, createdAt: now };
}

export const tokenEvent = (
  type: 'token.created' | 'token.rotated',
  token: Restrictions & Pick<Token, 'id' | 'kind'>,
  more: UseCaseEvent['data'] = {},
): UseCaseEvent => eventOf(type, 'token', token.id, { kind: token.kind, ...restrictionsOf(token), ...more });

const restrictionsOf = ({ productIds, networks, maxIssues, rateLimit, expiresAt }: Restrictions) => ({
  productIds,
  networks,
  maxIssues,
  rateLimit,
  expiresAt,
});
