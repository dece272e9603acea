import { mutates } from '../../contract/endpoint.ts';
import { ApiError, apiError, apiErrors, type Reason } from '../../contract/errors.ts';
import type { Context } from '../../service/context.ts';
import { actorOf, RecordedRefusal, rightsReasons, type UseCaseEvent } from '../../service/record.ts';
import type { StoredResponse } from '../../store/response-sealing.ts';
import type { Repositories } from '../../store/store.ts';
import type { AppParts } from '../app-parts.ts';
import type { ExecutionResult, IdempotencyClaim } from '../idempotency/exactly-once.ts';
import { fingerprintOf } from '../idempotency/fingerprint.ts';
import { readIdempotencyKey } from '../idempotency/idempotency-key.ts';
import { withBody } from './authenticate.ts';
import type { AuthorizedRequest, ReadResult } from './authorized-request.ts';
import { isUnreadable, readInput } from './input.ts';
import { budgetHeader, errorBody, invalidFieldsHeader, JSON_TYPE, startBody, toApiError } from './respond.ts';
import type { Route } from './routes.ts';

/**
 * Performs a read of durable rows within the concurrency limit; reads of many rows run in the reading thread, if the server
 * has that thread.
 */
export function readOnly(parts: AppParts, request: AuthorizedRequest): Promise<ReadResult> {
  const { route, httpRequest } = request;
  return withBody(parts, request, async (bytes) => {
    const input = readInput(route.endpoint, httpRequest, bytes);
    const reason = route.authorize(request.caller, input);
    if (reason !== null) await refuse(parts, request, reason);
    if (route.endpoint.readsMany && parts.reading !== undefined) return parts.reading.read(request, input);
    const { status, wrap, stream } = route.endpoint.reply;
    const context = contextOf(parts, request, parts.store.repositories, refuseToRecord);
    const result = (await route.perform(context, input)) as never;
    const body = stream === undefined ? JSON.stringify(wrap(result)) : await startBody(stream(result));
    return { status, body, replayed: false };
  });
}

/**
 * Performs a mutation in one transaction, and at most once per idempotency key. Authorization comes before the look-up of the
 * key, so that a refused request is neither run nor stored nor replayed.
 */
export async function mutate(parts: AppParts, request: AuthorizedRequest): Promise<ExecutionResult> {
  const key = readIdempotencyKey(request.httpRequest.headers);
  const result = await withBody(parts, request, (bytes) => mutateOnce(parts, request, key, bytes));
  if (result.replayed) request.budget ??= await budgetOfReplay(parts, request);
  else parts.onRecorded?.();
  if (result.status < 300) Object.assign(request.headers, budgetHeader(request.budget));
  return result;
}

/** Refuses a request before it runs; records refused mutations. */
export async function refuse(parts: AppParts, request: RecordedRequest, refusal: Reason): Promise<never> {
  if (rightsReasons.some((reason) => reason === refusal) && mutates(request.route.endpoint)) {
    await recordApart(parts, request, { events: [], refusal });
  }
  throw apiError(refusal, { latest: request.caller.expiresAt ?? undefined });
}

async function mutateOnce(
  parts: AppParts,
  request: AuthorizedRequest,
  key: string | null,
  bytes: Uint8Array,
): Promise<ExecutionResult> {
  let input: unknown;
  let invalid: unknown = null;
  try {
    input = readInput(request.route.endpoint, request.httpRequest, bytes);
  } catch (error) {
    if (key === null) throw error;
    invalid = error;
  }
  const reason = invalid === null ? request.route.authorize(request.caller, input) : null;
  if (reason !== null) await refuse(parts, request, reason);
  if (key !== null) return await mutateUnderKey(parts, request, { key, bytes, input, invalid });
  try {
    const response = await parts.store.transaction((repositories) => perform(parts, request, repositories, input));
    return { ...response, replayed: false };
  } catch (error) {
    if (error instanceof RecordedRefusal) await recordApart(parts, request, error.outcome);
    throw error;
  }
}

/** @param invalid why there is no input, or null */
async function mutateUnderKey(
  parts: AppParts,
  request: AuthorizedRequest,
  { key, bytes, input, invalid }: { key: string; bytes: Uint8Array; input: unknown; invalid: unknown },
): Promise<ExecutionResult> {
  const { route, httpRequest, caller, now } = request;
  const { method, path, reply } = route.endpoint;
  let refusal = invalid;
  const claim: IdempotencyClaim = {
    accountId: caller.accountId,
    tokenId: caller.tokenId,
    key,
    fingerprint: fingerprintOf(method, httpRequest.target, bytes),
    method,
    path,
    now,
    authorizeReplay: async (repositories, { status, body }, tokenId) => {
      // Unreadable input cannot be authorized: the caller gets only the refusal of its input.
      if (invalid !== null && status !== apiErrors.invalidParams.status) throw invalid;
      if (status >= 300) return;
      const stored = { tokenId, payload: () => reply.unwrap(JSON.parse(body)) };
      await route.authorizeReplay(contextOf(parts, request, repositories, refuseToRecord), input, stored);
    },
  };
  const result = await parts.exactlyOnce(claim, async (repositories) => {
    try {
      if (invalid !== null) throw invalid;
      return await repositories.nested(() => perform(parts, request, repositories, input));
    } catch (error) {
      refusal = error;
      const response = responseToStore(route, error);
      if (error instanceof RecordedRefusal) await recordMutation(parts, request, repositories, error.outcome);
      return response;
    }
  });
  if (refusal instanceof ApiError && result.status >= 300) {
    Object.assign(request.headers, invalidFieldsHeader(refusal.fields));
  }
  return result;
}

/**
 * The response to store for a refusal of the use case. Rethrows errors that are not stored: failures, a body that is no JSON,
 * and `issueLimit`, which depends on the token alone. Decision 0018.
 */
function responseToStore({ endpoint }: Route, error: unknown): StoredResponse {
  const refusal = toApiError(endpoint, error);
  if (refusal.status >= 500 || refusal.reason === 'issueLimit' || isUnreadable(error)) throw error;
  return { status: refusal.status, contentType: JSON_TYPE, body: JSON.stringify(errorBody(refusal)) };
}

/** How many keys a token may still issue after a replay of its own request, which is not counted again. */
async function budgetOfReplay(
  { store }: AppParts,
  { route, caller: { accountId, tokenId, maxIssues } }: AuthorizedRequest,
): Promise<number | undefined> {
  if (!route.issuesKeys || tokenId === null || maxIssues === null) return undefined;
  const token = await store.repositories.tokens.find(accountId, tokenId);
  return maxIssues - (token?.issued ?? 0);
}

async function perform(
  parts: AppParts,
  request: AuthorizedRequest,
  repositories: Repositories,
  input: unknown,
): Promise<StoredResponse> {
  const { route } = request;
  const { status, wrap } = route.endpoint.reply;
  const events: UseCaseEvent[] = [];
  const context = contextOf(parts, request, repositories, (event) => events.push(event));
  const result = await route.perform(context, input);
  await recordMutation(parts, request, repositories, { events });
  return { status, contentType: JSON_TYPE, body: JSON.stringify(wrap(result as never)) };
}

type RecordedRequest = AuthorizedRequest<Pick<Route, 'name' | 'endpoint'>>;

const recordMutation = (
  { record, door }: AppParts,
  { route, caller, now, ipAddress, requestId }: RecordedRequest,
  repositories: Repositories,
  outcome: RecordedRefusal['outcome'],
): Promise<unknown> =>
  record(repositories, {
    accountId: caller.accountId,
    at: now,
    actor: actorOf(caller),
    address: ipAddress,
    door,
    requestId,
    operation: route.name,
    ...outcome,
  });

/** Records a refused mutation in a transaction of its own, since the mutation's is rolled back. */
async function recordApart(parts: AppParts, request: RecordedRequest, outcome: RecordedRefusal['outcome']) {
  await parts.store.transaction((repositories) => recordMutation(parts, request, repositories, outcome));
  parts.onRecorded?.();
}

export const contextOf = (
  parts: AppParts,
  request: Pick<AuthorizedRequest, 'caller' | 'now' | 'ipAddress' | 'budget'>,
  repositories: Repositories,
  record: Context['record'],
): Context => ({
  repositories,
  caller: request.caller,
  now: request.now,
  ipAddress: request.ipAddress,
  random: parts.random,
  record,
  reportRemainingBudget: (remaining) => {
    request.budget = remaining;
  },
  signer: (accountId = request.caller.accountId) => parts.signerOf(repositories, accountId),
  newKeyPair: parts.newKeyPair,
  pageUrl: parts.page?.url() ?? null,
  webhooks: parts.webhooks,
});

/** The recorder for reads and for the authorization of replays, which record nothing. */
const refuseToRecord = (): never => {
  throw new TypeError('only a mutation is recorded');
};
