import type { Logger } from 'pino';
import { mutates } from '../../contract/endpoint.ts';
import { apiError, type Reason } from '../../contract/errors.ts';
import type { Instant } from '../../contract/scalars.ts';
import { anonymous, type Caller, mayCall } from '../../domain/access.ts';
import type { IpAddress } from '../../domain/mask.ts';
import { StorageError } from '../../store/engine/storage-error.ts';
import type { Store } from '../../store/store.ts';
import type { ExactlyOnce } from '../idempotency/exactly-once.ts';
import { hasIdempotencyKey } from '../idempotency/key.ts';
import type { SignerOf } from '../signers.ts';
import { authenticate } from './authenticate.ts';
import type { AddressOf } from './client-address.ts';
import { mutate, readOnly } from './execute.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from './messages.ts';
import type { RateLimiter } from './rate-limit.ts';
import { jsonText, refusal, retirementHeaders, toApiError } from './respond.ts';
import type { Route } from './routes.ts';

/** What the service is made of. Time and randomness come from here and from nowhere else. */
export interface AppParts {
  readonly store: Store;
  readonly log: Logger;
  /** Null is without limits. */
  readonly limiter: RateLimiter | null;
  readonly addressOf: AddressOf;
  readonly signerOf: SignerOf;
  readonly exactlyOnce: ExactlyOnce;
  /** The caller that a fixed token speaks for: the owner of a database that is opened in process. */
  readonly owner?: { readonly token: string; readonly caller: Caller };
  now(): Instant;
  random(length: number): Uint8Array;
  newRequestId(): string;
}

/**
 * The pipeline: authenticate, limit, check the scope, then perform and answer. What changes something goes on through
 * its own gates: key, body, claim, use case, commit.
 */
export async function answer(parts: AppParts, route: Route, received: HttpRequest): Promise<HttpResponse> {
  const started = performance.now();
  const { endpoint } = route;
  const requestId = parts.newRequestId();
  const headers: Record<string, string> = { 'X-Request-Id': requestId, ...retirementHeaders(endpoint) };
  const now = parts.now();
  const ipAddress = parts.addressOf(received.peer, received.headers.get('x-forwarded-for'));
  let caller = anonymous;
  let reason: Reason | null = null;
  let response: HttpResponse;
  try {
    const { scope, openToClients = false } = endpoint;
    if (scope !== 'public') {
      caller = await identify(parts, received.headers.get('authorization'), { now, ipAddress, headers });
      if (!mayCall(caller, { scope, openToClients })) throw apiError('scopeMissing');
    }
    const ask = { route, received, caller, now, ipAddress };
    const { status, body, replayed } = await (mutates(endpoint) ? mutate(parts, ask) : readOnly(parts, ask));
    response = jsonText(status, body, replayed ? { ...headers, 'Idempotency-Replayed': 'true' } : headers);
  } catch (thrown) {
    const error = toApiError(
      endpoint,
      isUnavailable(route, received.headers, thrown) ? apiError('unavailable', {}, { cause: thrown }) : thrown,
    );
    reason = error.reason;
    if (error.status >= 500) parts.log.error({ requestId, err: error.cause }, 'request failed');
    response = refusal(error, headers);
  }
  parts.log.info(
    {
      requestId,
      method: endpoint.method,
      route: endpoint.path,
      status: response.status,
      ms: Math.round(performance.now() - started),
      account: caller.accountId || undefined,
      token: caller.tokenId ?? undefined,
      reason: reason ?? undefined,
    },
    'request',
  );
  return response;
}

/** Whether a mutation under an idempotency key has certainly not been run, because the database failed before it. */
function isUnavailable({ endpoint }: Route, headers: RequestHeaders, thrown: unknown): boolean {
  return thrown instanceof StorageError && mutates(endpoint) && hasIdempotencyKey(headers);
}

/** Who asks, within their limits. Throws ApiError `invalidToken` or `rateLimited`; adds the limit's headers. */
async function identify(
  { store, limiter, owner }: AppParts,
  authorization: string | null,
  { now, ipAddress, headers }: { now: Instant; ipAddress: IpAddress; headers: Record<string, string> },
): Promise<Caller> {
  if (owner !== undefined && authorization === `Bearer ${owner.token}`) return owner.caller;
  const caller = await authenticate(store.repositories, authorization, now);
  const allowance =
    caller === null ? await limiter?.takeFailure(ipAddress) : await limiter?.takeRequest(caller.tokenId ?? '');
  Object.assign(headers, allowance?.headers);
  if (allowance?.allowed === false) throw apiError('rateLimited');
  if (caller === null) throw apiError('invalidToken');
  return caller;
}
