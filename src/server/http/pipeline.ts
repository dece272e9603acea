import { mutates } from '../../contract/endpoint.ts';
import { apiError, type Reason } from '../../contract/errors.ts';
import type { Instant } from '../../contract/scalars.ts';
import { anonymous, type Caller, mayCall } from '../../domain/access.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import { ReadTooBroad, StorageError } from '../../store/errors.ts';
import type { AppParts } from '../app-parts.ts';
import type { ExecutionResult } from '../idempotency/exactly-once.ts';
import { hasIdempotencyKey } from '../idempotency/idempotency-key.ts';
import { readTraceparent } from '../telemetry/trace-context.ts';
import { authenticate } from './authenticate.ts';
import { budgetHeader } from './budget.ts';
import type { AuthorizedRequest, ReadResult } from './execute.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from './messages.ts';
import { refuse } from './recording.ts';
import { cacheable, invalidFieldsHeader, jsonText, refusal, retirementHeaders, toApiError } from './respond.ts';
import type { Route } from './routes.ts';

/** What answering needs of a route. */
type AnsweredRoute = Pick<Route, 'name' | 'endpoint' | 'looksUpKey' | 'maxAgeSeconds'>;

/** Runs what a request is about. */
type Execute<R> = (parts: AppParts, request: AuthorizedRequest<R>) => Promise<ReadResult | ExecutionResult>;

/**
 * Answers one request: authenticates, applies the limits, checks the scope, runs the use case, makes the response and
 * logs it. A mutation has further steps: idempotency key, body, claim, transaction, commit.
 */
export async function handleRequest<R extends AnsweredRoute>(
  parts: AppParts,
  route: R,
  request: HttpRequest,
  execute: Execute<R>,
): Promise<HttpResponse> {
  const started = parts.monotonic();
  const { endpoint } = route;
  const requestId = parts.newRequestId();
  const headers: Record<string, string> = { 'X-Request-Id': requestId, ...retirementHeaders(endpoint) };
  const now = parts.now();
  const ipAddress = parts.addressOf(request.peer, request.headers.get('x-forwarded-for'));
  let caller = anonymous;
  let reason: Reason | null = null;
  let response: HttpResponse;
  try {
    const { scope, openToClients = false } = endpoint;
    if (scope !== 'public') {
      caller = await authenticateWithinLimits(parts, request, { now, ipAddress, headers });
    }
    const authorized: AuthorizedRequest<R> = { route, httpRequest: request, requestId, caller, now, ipAddress };
    if (scope !== 'public') {
      if (!mayCall(caller, { scope, openToClients })) await refuse(parts, authorized, 'scopeMissing');
      if (route.looksUpKey) await limitMisses(parts, caller, { ipAddress, headers });
    }
    const { status, body, replayed } = await execute(parts, authorized);
    if (status < 300) Object.assign(headers, budgetHeader(authorized.budget));
    else Object.assign(headers, invalidFieldsHeader(authorized.invalidFields));
    const { contentType } = endpoint.reply;
    const sent = jsonText(status, body, {
      ...headers,
      ...(contentType && { 'Content-Type': contentType }),
      ...(replayed && { 'Idempotency-Replayed': 'true' }),
    });
    response = route.maxAgeSeconds === 0 ? sent : cacheable(request, sent, route.maxAgeSeconds);
    if (status === 404 && !replayed) await countMiss(parts, route, caller, ipAddress);
  } catch (thrown) {
    const error = toApiError(endpoint, explainStorage(route, request.headers, thrown));
    reason = error.reason;
    if (reason === 'issueLimit') Object.assign(headers, budgetHeader(0));
    if (error.status === 404) await countMiss(parts, route, caller, ipAddress);
    if (error.status >= 500) parts.log.error({ requestId, err: error.cause }, 'request failed');
    response = refusal(error, headers);
  }
  const { method, path } = endpoint;
  const ms = parts.monotonic() - started;
  parts.onRequest?.({ method, route: path, status: response.status, ms });
  parts.log.info(
    {
      requestId,
      ...readTraceparent(request.headers.get('traceparent')),
      method,
      route: path,
      status: response.status,
      ms: Math.round(ms),
      account: caller.accountId || undefined,
      token: caller.tokenId ?? undefined,
      reason: reason ?? undefined,
    },
    'request',
  );
  return response;
}

/** The refusal that a failure of the database means for this request, if it means one; else what was thrown. */
function explainStorage(route: AnsweredRoute, headers: RequestHeaders, thrown: unknown): unknown {
  if (thrown instanceof ReadTooBroad && !mutates(route.endpoint)) {
    const hint = 'This request reads too much: narrow it down with filters, or read the list part by part';
    return apiError('invalidParams', { hint }, { cause: thrown });
  }
  return isUnavailable(route, headers, thrown) ? apiError('unavailable', {}, { cause: thrown }) : thrown;
}

/** Whether a mutation under an idempotency key has certainly not been run, because the database failed before it. */
function isUnavailable({ endpoint }: AnsweredRoute, headers: RequestHeaders, thrown: unknown): boolean {
  return thrown instanceof StorageError && mutates(endpoint) && hasIdempotencyKey(headers);
}

/** What the limits use of a request: its address, and the headers of its response, to which they add theirs. */
interface Counted {
  readonly ipAddress: IpAddress;
  readonly headers: Record<string, string>;
}

/** Authenticates the caller and applies the rate limit. Throws ApiError `invalidToken` or `rateLimited`. */
export async function authenticateWithinLimits(
  { store, limiter, owner, noteUse }: AppParts,
  request: HttpRequest,
  { now, ipAddress, headers }: Counted & { now: Instant },
): Promise<Caller> {
  const authorization = request.headers.get('authorization');
  if (owner?.sends(authorization)) return owner.caller;
  const caller = await authenticate(store.repositories, authorization, { now, ipAddress });
  const allowance = caller === null ? await limiter?.takeFailure(ipAddress) : await limiter?.takeRequest(caller);
  Object.assign(headers, allowance?.headers);
  if (allowance?.allowed === false) throw apiError('rateLimited');
  if (caller === null) throw apiError('invalidToken');
  noteUse?.(caller, now);
  return caller;
}

/** Throws ApiError `rateLimited` for a token that has asked for too many unknown keys. */
async function limitMisses({ limiter }: AppParts, { tokenId }: Caller, { ipAddress, headers }: Counted): Promise<void> {
  if (limiter === null || tokenId === null) return;
  const allowance = limiter.checkMisses(tokenId, ipAddress);
  if (allowance.allowed) return;
  Object.assign(headers, allowance.headers);
  throw apiError('rateLimited');
}

async function countMiss(
  { limiter }: AppParts,
  route: AnsweredRoute,
  { tokenId }: Caller,
  address: IpAddress,
): Promise<void> {
  if (route.looksUpKey && tokenId !== null) await limiter?.takeMiss(tokenId, address);
}
