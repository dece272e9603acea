import { mutates } from '../../contract/endpoint.ts';
import { apiError, type Reason } from '../../contract/errors.ts';
import { anonymous, type Caller, mayCall } from '../../domain/access.ts';
import { ReadTooBroad, StorageError } from '../../store/errors.ts';
import type { AppParts } from '../app-parts.ts';
import type { ExecutionResult } from '../idempotency/exactly-once.ts';
import { hasIdempotencyKey } from '../idempotency/idempotency-key.ts';
import { readTraceparent } from '../telemetry/trace-context.ts';
import { authenticate } from './authenticate.ts';
import type { AuthorizedRequest, ReadResult } from './execute.ts';
import type { HttpRequest, HttpResponse } from './messages.ts';
import type { Allowance } from './rate-limit.ts';
import { refuse } from './recording.ts';
import { cacheable, jsonText, refusal, retirementHeaders, toApiError } from './respond.ts';
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
  const { method, path } = endpoint;
  const incoming = receive(parts, request);
  const { requestId, headers } = incoming;
  Object.assign(headers, retirementHeaders(endpoint));
  let caller = anonymous;
  let reason: Reason | null = null;
  let response: HttpResponse;
  try {
    const { scope, openToClients = false } = endpoint;
    if (scope !== 'public') caller = await authenticateWithinLimits(parts, incoming);
    const authorized: AuthorizedRequest<R> = { ...incoming, route, caller };
    if (scope !== 'public') {
      if (!mayCall(caller, { scope, openToClients })) await refuse(parts, authorized, 'scopeMissing');
      limitMisses(parts, authorized);
    }
    const { status, body, replayed } = await execute(parts, authorized);
    const { contentType } = endpoint.reply;
    const sent = jsonText(status, body, {
      ...headers,
      ...(contentType && { 'Content-Type': contentType }),
      ...(replayed && { 'Idempotency-Replayed': 'true' }),
    });
    response = route.maxAgeSeconds === 0 ? sent : cacheable(request, sent, route.maxAgeSeconds);
    if (status === 404 && !replayed) await countMiss(parts, authorized);
  } catch (thrown) {
    const error = toApiError(endpoint, explainStorage(route, request, thrown));
    reason = error.reason;
    if (error.status === 404) await countMiss(parts, { ...incoming, route, caller });
    if (error.status >= 500) parts.log.error({ requestId, err: error.cause }, 'request failed');
    response = refusal(error, headers);
  }
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

type IncomingRequest = Omit<AuthorizedRequest, 'route' | 'caller'>;

/** What is known of a request before its caller is. */
export function receive({ newRequestId, now, addressOf }: AppParts, httpRequest: HttpRequest): IncomingRequest {
  const requestId = newRequestId();
  return {
    httpRequest,
    requestId,
    now: now(),
    ipAddress: addressOf(httpRequest.peer, httpRequest.headers.get('x-forwarded-for')),
    headers: { 'X-Request-Id': requestId },
  };
}

/** The refusal that a failure of the database means for this request, if it means one; else what was thrown. */
function explainStorage({ endpoint }: AnsweredRoute, { headers }: HttpRequest, thrown: unknown): unknown {
  if (thrown instanceof ReadTooBroad && !mutates(endpoint)) {
    const hint = 'This request reads too much: narrow it down with filters, or read the list part by part';
    return apiError('invalidParams', { hint }, { cause: thrown });
  }
  // A mutation under an idempotency key has certainly not been run when the database failed before it.
  const isUnavailable = thrown instanceof StorageError && mutates(endpoint) && hasIdempotencyKey(headers);
  return isUnavailable ? apiError('unavailable', {}, { cause: thrown }) : thrown;
}

/** Authenticates the caller and applies the rate limit. Throws ApiError `invalidToken` or `rateLimited`. */
export async function authenticateWithinLimits(
  { store, limiter, owner, noteUse }: AppParts,
  { httpRequest, now, ipAddress, headers }: IncomingRequest,
): Promise<Caller> {
  const authorization = httpRequest.headers.get('authorization');
  if (owner?.sends(authorization)) return owner.caller;
  const caller = await authenticate(store.repositories, authorization, { now, ipAddress });
  const allowance = caller === null ? await limiter?.takeFailure(ipAddress) : await limiter?.takeRequest(caller);
  apply(allowance, headers);
  if (caller === null) throw apiError('invalidToken');
  noteUse?.(caller, now);
  return caller;
}

function apply(allowance: Allowance | null | undefined, headers: Record<string, string>): void {
  Object.assign(headers, allowance?.headers);
  if (allowance?.allowed === false) throw apiError('rateLimited');
}

/** Throws ApiError `rateLimited` for a token that has asked for too many unknown keys. */
function limitMisses(
  { limiter }: AppParts,
  { route, caller: { tokenId }, ipAddress, headers }: AuthorizedRequest<AnsweredRoute>,
): void {
  if (route.looksUpKey && tokenId !== null) apply(limiter?.checkMisses(tokenId, ipAddress), headers);
}

async function countMiss(
  { limiter }: AppParts,
  { route, caller: { tokenId }, ipAddress }: AuthorizedRequest<AnsweredRoute>,
): Promise<void> {
  if (route.looksUpKey && tokenId !== null) await limiter?.takeMiss(tokenId, ipAddress);
}
