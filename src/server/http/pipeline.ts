import { mutates } from '../../contract/endpoint.ts';
import { apiError, type Reason } from '../../contract/errors.ts';
import { anonymous, type Caller, mayCall } from '../../domain/access.ts';
import { ReadTooBroad, StartupError, StorageError } from '../../store/errors.ts';
import type { AppParts } from '../app-parts.ts';
import { errorFields } from '../error-fields.ts';
import type { ExecutionResult } from '../idempotency/exactly-once.ts';
import { hasIdempotencyKey, seenKeyHeader } from '../idempotency/idempotency-key.ts';
import { Overload } from '../places.ts';
import { authenticate } from './authenticate.ts';
import type { AuthorizedRequest, ReadResult } from './authorized-request.ts';
import { refuse } from './execute.ts';
import type { HttpRequest, HttpResponse } from './messages.ts';
import type { Allowance } from './rate-limit.ts';
import { cacheable, jsonText, refusal, retirementHeaders, toApiError } from './respond.ts';
import type { Route } from './routes.ts';

type AnsweredRoute = Pick<Route, 'name' | 'endpoint' | 'looksUpKey' | 'maxAgeSeconds'>;

type Execute<R> = (parts: AppParts, request: AuthorizedRequest<R>) => Promise<ReadResult | ExecutionResult>;

/**
 * Answers one request: authenticates, applies the limits, checks the scope, runs the use case, makes the response and
 * logs it. A mutation has further steps: idempotency key, body, claim, transaction, commit.
 */
export async function handleRequest<R extends AnsweredRoute>(
  parts: AppParts,
  route: R,
  httpRequest: HttpRequest,
  execute: Execute<R>,
): Promise<HttpResponse> {
  const started = parts.monotonic();
  const { endpoint } = route;
  const { scope, openToClients = false } = endpoint;
  const requestId = parts.newRequestId();
  const seenKey = mutates(endpoint) ? seenKeyHeader(httpRequest.headers) : {};
  const headers: Record<string, string> = { 'X-Request-Id': requestId, ...seenKey, ...retirementHeaders(endpoint) };
  const ipAddress = parts.addressOf(httpRequest.peer, httpRequest.headers.get('x-forwarded-for'));
  const now = parts.now();
  let request: AuthorizedRequest<R> = { route, httpRequest, requestId, headers, ipAddress, now, caller: anonymous };
  let reason: Reason | null = null;
  let response: HttpResponse;
  try {
    if (scope === 'public') apply(await parts.limiter?.takePublic(ipAddress), headers);
    else {
      request = { ...request, caller: await authenticateWithinLimits(parts, request) };
      if (!mayCall(request.caller, { scope, openToClients })) await refuse(parts, request, 'scopeMissing');
      limitMisses(parts, request);
    }
    response = responseTo(request, await execute(parts, request));
  } catch (thrown) {
    const error = toApiError(endpoint, explainStorage(parts, route, httpRequest, thrown));
    reason = error.reason;
    if (error.cause instanceof Overload) parts.log.warn({ requestId, problem: error.cause.message }, 'overload');
    else if (error.status >= 500)
      parts.log.error({ requestId, ...errorFields(parts.store, error.cause) }, 'request failed');
    response = refusal(error, headers);
  }
  const { tokenId } = request.caller;
  // Counts as a look-up of an unknown key: a short text is invalid only if no such key was imported.
  const isMiss = response.status === 404 || response.headers['LKM-Invalid-Fields'] === 'licenseKey';
  const isCopy = response.headers['Idempotency-Replayed'] !== undefined;
  if (isMiss && !isCopy && route.looksUpKey && tokenId !== null) {
    await parts.limiter?.countMiss(tokenId, ipAddress);
  }
  logRequest(parts, request, { status: response.status, ms: parts.monotonic() - started, reason });
  return response;
}

/** The response to a request that was carried out, or whose stored response is repeated. */
function responseTo(
  { route: { endpoint, maxAgeSeconds }, httpRequest, headers }: AuthorizedRequest<AnsweredRoute>,
  { status, body, replayed }: ReadResult | ExecutionResult,
): HttpResponse {
  const { contentType } = endpoint.reply;
  const response = jsonText(status, body, {
    ...headers,
    ...(contentType && { 'Content-Type': contentType }),
    ...(replayed && { 'Idempotency-Replayed': 'true' }),
  });
  return maxAgeSeconds === 0 ? response : cacheable(httpRequest, response, maxAgeSeconds);
}

function logRequest(
  { log, onRequest }: AppParts,
  { route, httpRequest, requestId, caller }: AuthorizedRequest<AnsweredRoute>,
  { status, ms, reason }: { status: number; ms: number; reason: Reason | null },
): void {
  const { method, path } = route.endpoint;
  onRequest?.({ method, route: path, status, ms });
  log.info(
    {
      requestId,
      ...readTraceparent(httpRequest.headers.get('traceparent')),
      method,
      route: path,
      status,
      ms: Math.round(ms),
      account: caller.accountId || undefined,
      token: caller.tokenId ?? undefined,
      reason: reason ?? undefined,
    },
    'request',
  );
}

/** The refusal for a failure of the database; other errors unchanged. */
function explainStorage(
  { store }: AppParts,
  { endpoint }: AnsweredRoute,
  { headers }: HttpRequest,
  thrown: unknown,
): unknown {
  if (thrown instanceof ReadTooBroad && !mutates(endpoint)) {
    const hint = 'This request reads too much: narrow it down with filters, or read the list part by part';
    return apiError('invalidParams', { hint }, { cause: thrown });
  }
  if (!(thrown instanceof StorageError)) return thrown;
  // With an idempotency key, a failure before the mutation means that it has not run.
  const isUnavailable = mutates(endpoint) ? hasIdempotencyKey(headers) : store.explain(thrown) instanceof StartupError;
  return isUnavailable ? apiError('unavailable', {}, { cause: thrown }) : thrown;
}

/** Authenticates the caller and applies the rate limit. Throws ApiError `invalidToken` or `rateLimited`. */
async function authenticateWithinLimits(
  { store, limiter, owner, noteUse }: AppParts,
  { httpRequest, now, ipAddress, headers }: AuthorizedRequest<AnsweredRoute>,
): Promise<Caller> {
  const authorization = httpRequest.headers.get('authorization');
  if (owner?.sends(authorization)) return owner.caller;
  const caller = await authenticate(store.repositories, authorization, { now, ipAddress });
  const allowance = caller === null ? await limiter?.countFailure(ipAddress) : await limiter?.takeRequest(caller);
  apply(allowance, headers);
  if (caller === null) throw apiError('invalidToken');
  noteUse?.(caller, now);
  return caller;
}

/** Throws ApiError `rateLimited` for a token that has asked for too many unknown keys. */
function limitMisses(
  { limiter }: AppParts,
  { route, caller: { tokenId }, ipAddress, headers }: AuthorizedRequest<AnsweredRoute>,
): void {
  if (route.looksUpKey && tokenId !== null) apply(limiter?.checkMisses(tokenId, ipAddress), headers);
}

function apply(allowance: Allowance | null | undefined, headers: Record<string, string>): void {
  Object.assign(headers, allowance?.headers);
  if (allowance?.allowed === false) throw apiError('rateLimited');
}

const traceparentShape = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** The trace and the span of the sender in a `traceparent` header (W3C Trace Context §3.2); null without a valid header. */
export function readTraceparent(header: string | null): { traceId: string; parentId: string } | null {
  const [, version, traceId, parentId, rest] = traceparentShape.exec(header ?? '') ?? [];
  // Version 00 has these four parts; later versions may have more.
  if (traceId === undefined || parentId === undefined || (version === '00' && rest !== undefined)) return null;
  return { traceId, parentId };
}
