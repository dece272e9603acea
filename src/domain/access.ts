import type { AccountId, Instant, TokenId } from '../contract/scalars.ts';
import { scopes as everyScope, type Scope, type TokenKind } from '../contract/scopes.ts';
import { isWithin } from './ip-address.ts';

/** The identity that a token authenticates, with its rights. */
export interface Caller {
  readonly accountId: AccountId;
  /** Null for the owner of the database, who calls in process and has no token. */
  readonly tokenId: TokenId | null;
  readonly kind: TokenKind;
  readonly scopes: ReadonlySet<Scope>;
  /** The only products it may access; null means all. */
  readonly productIds: ReadonlySet<string> | null;
  /** The only networks it may call from, in CIDR notation; null means any. */
  readonly networks: readonly string[] | null;
  /** How many keys it may create in all; null means any number. */
  readonly maxIssues: number | null;
  /** Requests per minute; null means as many as the service allows any token. */
  readonly rateLimit: number | null;
  /** When its rights end; null means never. */
  readonly expiresAt: Instant | null;
}

/** The caller of a public endpoint: without an identity and without rights. */
export const anonymous: Caller = {
  accountId: '' as AccountId,
  tokenId: null,
  kind: 'scoped',
  scopes: new Set(),
  productIds: new Set(),
  networks: [],
  maxIssues: 0,
  rateLimit: null,
  expiresAt: null,
};

/** The rights of a token without restrictions beyond its kind and its scopes. */
export const unrestricted = { productIds: null, networks: null, maxIssues: null, rateLimit: null, expiresAt: null };

/** The owner of a database, who opens it in process: has every scope and no token. */
export const ownerOf = (accountId: AccountId): Caller => ({
  accountId,
  tokenId: null,
  kind: 'admin',
  scopes: new Set(everyScope),
  ...unrestricted,
});

/** All that a token of `kind` may do, in the order of the scopes list. Source: API description, "Authentication", 2 and 5. */
export function scopesOf(kind: TokenKind, given: readonly Scope[]): readonly Scope[] {
  if (kind === 'admin') return everyScope;
  const held = kind === 'scoped' ? given : scopesByKind[kind];
  return everyScope.filter((scope) => held.includes(scope));
}

/** Whether the caller may use the endpoint: it holds the scope, and a `client` token finds the endpoint open to it. */
export function mayCall(
  caller: Caller,
  endpoint: { readonly scope: Scope | 'none'; readonly openToClients?: boolean },
): boolean {
  return allows(caller, endpoint.scope) && (caller.kind !== 'client' || endpoint.openToClients === true);
}

/** Whether the caller holds the scope; `none` stands for any valid token. */
export const allows = ({ scopes }: Caller, scope: Scope | 'none'): boolean => scope === 'none' || scopes.has(scope);

/** Whether the caller sees keys and addresses in full. Source: API description, "Authentication", 5. */
export const seesSecrets = ({ kind, scopes }: Pick<Caller, 'kind' | 'scopes'>): boolean =>
  kind === 'admin' || scopes.has('license:reveal');

/** The fields that the `text` of a list of keys may match for a caller. */
export interface Findable {
  /** Whether any last characters of a key find it; otherwise only all of the characters that a masked key shows. */
  readonly anyKeyEnd: boolean;
  /** Whether a search for words of a customer finds the customer's keys. */
  readonly customers: boolean;
}

/**
 * The fields that a caller may search: only text that the caller may see, since a search could guess hidden text letter by
 * letter. Decision 0002.
 */
export const findableBy = (caller: Caller): Findable => ({
  anyKeyEnd: seesSecrets(caller),
  customers: allows(caller, 'customer:read'),
});

/** Whether the caller may see other devices, and fields for the vendor or the customer only. Source: decision 0008. */
export const seesWholeLicense = (caller: Caller): boolean => caller.kind !== 'client';

/** Whether the caller may access the product at all. */
export const canAccessProduct = ({ productIds }: Caller, productId: string): boolean =>
  productIds === null || productIds.has(productId);

/**
 * The products to list: the product that the request names, else all products that the caller may access; null means every
 * product.
 */
export function productsOf(caller: Caller, named: string | undefined): readonly string[] | null {
  if (named === undefined) return caller.productIds === null ? null : [...caller.productIds];
  return canAccessProduct(caller, named) ? [named] : [];
}

/** The token that a caller wants to create, with scopes from {@link scopesOf}. */
export interface WantedToken {
  readonly kind: TokenKind;
  readonly scopes: readonly Scope[];
  readonly productIds: readonly string[] | null;
  readonly networks: readonly string[] | null;
  readonly rateLimit: number | null;
  readonly expiresAt: Instant | null;
}

/** Whether the caller may create the token: it has no right, network or end beyond the caller's own. */
export function mayMint(caller: Caller, wanted: WantedToken): boolean {
  if (!hasRightsOf(caller, wanted)) return false;
  if (caller.expiresAt !== null && (wanted.expiresAt === null || wanted.expiresAt > caller.expiresAt)) return false;
  if (caller.rateLimit !== null && (wanted.rateLimit === null || wanted.rateLimit > caller.rateLimit)) return false;
  const { networks } = caller;
  if (networks === null) return true;
  return wanted.networks?.every((inner) => networks.some((outer) => isWithin(inner, outer))) ?? false;
}

/** Why the caller may not create such a token: `tokenOutlives` when only its end is in the way; null when it may. */
export function mintRefusal(caller: Caller, wanted: WantedToken): 'scopeMissing' | 'tokenOutlives' | null {
  if (mayMint(caller, wanted)) return null;
  return mayMint(caller, { ...wanted, expiresAt: caller.expiresAt }) ? 'tokenOutlives' : 'scopeMissing';
}

/** Whether the caller has every right of the token, and so may revoke it. A caller with `maxIssues` passes no right to issue keys on. */
export function hasRightsOf(
  caller: Caller,
  { kind, scopes, productIds }: Pick<WantedToken, 'kind' | 'scopes' | 'productIds'>,
): boolean {
  if (kind === 'admin' && caller.kind !== 'admin') return false;
  if (!scopes.every((scope) => allows(caller, scope))) return false;
  if (caller.maxIssues !== null && scopes.includes('license:write')) return false;
  return seesToken(caller, productIds);
}

/** Whether a caller that is limited to products may see a token: only if all products of the token are among the caller's. */
export function seesToken(caller: Caller, productIds: readonly string[] | null): boolean {
  if (productIds === null) return caller.productIds === null;
  return productIds.every((productId) => canAccessProduct(caller, productId));
}

const scopesByKind: Record<'read-only' | 'client', readonly Scope[]> = {
  'read-only': ['license:read', 'customer:read', 'product:read', 'event:read', 'webhook:read', 'audit:read'],
  client: ['license:read', 'license:activate', 'license:sign'],
};
