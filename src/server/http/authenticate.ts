import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import type { Instant, TokenId } from '../../contract/scalars.ts';
import type { Scope } from '../../contract/scopes.ts';
import { type Caller, scopesOf } from '../../domain/access.ts';
import { type IpAddress, readNetworks } from '../../domain/ip-address.ts';
import { hashToken, isWellFormedToken, mayBeForeignToken } from '../../domain/token.ts';
import type { Repositories, Store } from '../../store/store.ts';
import type { HttpRequest } from './messages.ts';

/** Made once for all requests of admins. */
const everyScope: ReadonlySet<Scope> = new Set(scopesOf('admin', []));

/**
 * Finds the caller of an `Authorization` header; null for a missing, malformed, unknown, expired or revoked token, and
 * for one from outside of its networks, so that a caller cannot tell them apart. A revocation counts from the next
 * request on: the store forgets with its commit what it has remembered of tokens.
 */
export async function authenticate(
  repositories: Repositories,
  authorization: string | null,
  { now, ipAddress }: { readonly now: Instant; readonly ipAddress: IpAddress },
): Promise<Caller | null> {
  const token = bearerOf(authorization);
  if (token === null || !(isWellFormedToken(token) || mayBeForeignToken(token))) return null;
  const found = await repositories.tokens.findByHash(hashToken(token));
  if (found === null || found.revokedAt !== null) return null;
  if (found.expiresAt !== null && found.expiresAt <= now) return null;
  if (found.networks !== null && !readNetworks(found.networks)(ipAddress)) return null;
  return {
    accountId: found.accountId,
    tokenId: found.id as TokenId,
    kind: found.kind,
    scopes: found.kind === 'admin' ? everyScope : new Set(scopesOf(found.kind, found.scopes)),
    productIds: found.productIds && new Set(found.productIds),
    networks: found.networks,
    maxIssues: found.maxIssues,
    rateLimit: found.rateLimit,
    expiresAt: found.expiresAt,
  };
}

/** How long a token counts as looked up, in milliseconds. A body that comes slowly must not outlive its token. */
const TRUSTED_MS = 1_000;

interface Validating {
  readonly store: Pick<Store, 'repositories'>;
  now(): Instant;
}

interface Authenticated {
  readonly caller: Caller;
  readonly httpRequest: HttpRequest;
  readonly ipAddress: IpAddress;
}

/**
 * Reads the body of a request that has one, before the request takes one of the places: a body that comes slowly must hold
 * up no other. With it comes what refuses a token that was revoked meanwhile.
 */
export async function readTrustedBody(
  parts: Validating & { monotonic(): number },
  request: Authenticated & { readonly route: { readonly endpoint: Pick<AnyEndpoint, 'method'> } },
) {
  if (request.route.endpoint.method === 'GET') return NO_BODY;
  const authenticated = parts.monotonic();
  const bytes = await request.httpRequest.readBody();
  const refuseUntrusted = async (): Promise<void> => {
    const isTrusted = parts.monotonic() - authenticated < TRUSTED_MS || (await isStillValid(parts, request));
    if (!isTrusted) throw apiError('invalidToken');
  };
  return { bytes, refuseUntrusted };
}

const NO_BODY = { bytes: new Uint8Array(), refuseUntrusted: async (): Promise<void> => {} };

/** Whether the token of a request has not been revoked, and has not expired, since the request began. */
export async function isStillValid(
  { store, now }: Validating,
  { caller, httpRequest, ipAddress }: Authenticated,
): Promise<boolean> {
  if (caller.tokenId === null) return true;
  const authorization = httpRequest.headers.get('authorization');
  return (await authenticate(store.repositories, authorization, { now: now(), ipAddress })) !== null;
}

function bearerOf(authorization: string | null): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}
