import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import type { Instant, TokenId } from '../../contract/scalars.ts';
import type { Scope } from '../../contract/scopes.ts';
import { type Caller, scopesOf } from '../../domain/access.ts';
import { type IpAddress, readNetworks } from '../../domain/ip-address.ts';
import { hashToken, isWellFormedToken, mayBeForeignToken } from '../../domain/token.ts';
import type { Repositories, Store } from '../../store/store.ts';
import type { AppParts } from '../app-parts.ts';
import type { HttpRequest } from './messages.ts';

/** The scopes of admins, shared by all requests. */
const everyScope: ReadonlySet<Scope> = new Set(scopesOf('admin', []));

/**
 * Finds the caller of an `Authorization` header; null for a missing, malformed, unknown, expired or revoked token, and for a token
 * outside of its networks, so that a sender cannot tell these apart. A revocation counts from the next request on: its commit
 * clears the cached tokens of the store.
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

/** After this time a token is looked up again, in milliseconds: it may be revoked while its request sends the body slowly. */
const TRUSTED_MS = 1_000;

const NO_BYTES = new Uint8Array();

/**
 * Reads the body of a request, waits until one more request may run, and runs `work`. A request whose body comes slowly does
 * not count as running, so that it delays no other request. Throws ApiError `invalidToken` for a token that was revoked
 * meanwhile.
 */
export async function withBody<T>(
  parts: Validating & Pick<AppParts, 'monotonic' | 'places'>,
  request: Authenticated & { readonly route: { readonly endpoint: Pick<AnyEndpoint, 'method'> } },
  work: (bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  const { places, monotonic } = parts;
  const authenticated = monotonic();
  const bytes = request.route.endpoint.method === 'GET' ? NO_BYTES : await request.httpRequest.readBody();
  const workIfValid = async () => {
    const isTrusted = monotonic() - authenticated < TRUSTED_MS || (await isStillValid(parts, request));
    if (!isTrusted) throw apiError('invalidToken');
    return work(bytes);
  };
  return places === undefined ? workIfValid() : places.run(ANYONE, workIfValid);
}

/** One name for all callers: the number of running requests is limited in all, not per token. */
const ANYONE = '';

interface Validating {
  readonly store: Pick<Store, 'repositories'>;
  now(): Instant;
}

interface Authenticated {
  readonly caller: Caller;
  readonly httpRequest: HttpRequest;
  readonly ipAddress: IpAddress;
}

/** Whether the token of a request has not been revoked, and has not expired, since the request began. */
async function isStillValid(
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
