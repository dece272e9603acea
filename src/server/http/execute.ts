import { apiError, apiErrors, type Reason } from '../../contract/errors.ts';
import type { Instant } from '../../contract/scalars.ts';
import type { Caller } from '../../domain/access.ts';
import type { IpAddress } from '../../domain/mask.ts';
import type { Context } from '../../service/context.ts';
import type { Repositories } from '../../store/store.ts';
import type { StoredResponse } from '../../store/tables/idempotency-sealing.ts';
import type { ExecutionResult } from '../idempotency/exactly-once.ts';
import { fingerprintOf } from '../idempotency/fingerprint.ts';
import { readIdempotencyKey } from '../idempotency/key.ts';
import { readInput } from './input.ts';
import type { HttpRequest } from './messages.ts';
import type { AppParts } from './pipeline.ts';
import { JSON_TYPE, payloadOf, toApiError } from './respond.ts';
import type { Route } from './routes.ts';

/** One request that has passed the gates in front of every endpoint. */
export interface AuthorizedRequest {
  readonly route: Route;
  readonly received: HttpRequest;
  readonly caller: Caller;
  readonly now: Instant;
  readonly ipAddress: IpAddress;
}

const NO_BODY = new Uint8Array();

/** Refusals that another token of the account might not get for the same request. They are not stored. */
const REFUSALS_OF_TOKENS: readonly (Reason | null)[] = ['scopeMissing', 'issueLimit'];

/** Performs a read, on what is durable. */
export async function readOnly(parts: AppParts, request: AuthorizedRequest): Promise<ExecutionResult> {
  const input = readInput(request.route.endpoint, request.received, NO_BODY);
  authorize(request, input);
  return { ...(await perform(parts, request, parts.store.repositories, input)), replayed: false };
}

/**
 * Performs a mutation in one transaction; under an idempotency key once, however often it is requested. What the caller
 * may not do is refused before its key is looked up, so that it neither runs nor is stored nor is replayed.
 */
export async function mutate(parts: AppParts, request: AuthorizedRequest): Promise<ExecutionResult> {
  const { route, received, caller, now } = request;
  const { endpoint } = route;
  const key = readIdempotencyKey(received.headers);
  const bytes = await received.readBody();
  const input = attempt(() => readInput(endpoint, received, bytes));
  if (input.ok) authorize(request, input.value);

  const run = async (repositories: Repositories): Promise<StoredResponse> => {
    if (!input.ok) throw input.error;
    return perform(parts, request, repositories, input.value);
  };
  if (key === null) {
    if (!input.ok) throw input.error;
    return { ...(await parts.store.transaction(run)), replayed: false };
  }
  const claim = {
    accountId: caller.accountId,
    tokenId: caller.tokenId,
    key,
    fingerprint: fingerprintOf(endpoint.method, received.target, bytes),
    method: endpoint.method,
    path: endpoint.path,
    now,
    authorizeReplay: async (repositories: Repositories, { status }: StoredResponse) => {
      // Input that cannot be read cannot be authorised. Such a caller gets no more than the refusal of its input.
      if (!input.ok && status !== apiErrors.invalidParams.status) throw input.error;
      if (status < 300) await route.takeOver(contextOf(parts, request, repositories));
    },
  };
  return parts.exactlyOnce(claim, async (repositories) => {
    try {
      return await repositories.nested(() => run(repositories));
    } catch (error) {
      return responseToStore(request, error);
    }
  });
}

function authorize({ route, caller }: AuthorizedRequest, input: unknown): void {
  const reason = route.authorize(caller, input);
  if (reason !== null) throw apiError(reason);
}

async function perform(
  parts: AppParts,
  request: AuthorizedRequest,
  repositories: Repositories,
  input: unknown,
): Promise<StoredResponse> {
  const { status, wrap, stream } = request.route.endpoint.reply;
  const result = (await request.route.perform(contextOf(parts, request, repositories), input)) as never;
  if (stream === undefined) return { status, contentType: JSON_TYPE, body: JSON.stringify(wrap(result)) };
  let body = '';
  for await (const piece of stream(result)) body += piece;
  return { status, contentType: JSON_TYPE, body };
}

const contextOf = (
  parts: AppParts,
  { caller, now, ipAddress }: AuthorizedRequest,
  repositories: Repositories,
): Context => ({
  repositories,
  caller,
  now,
  ipAddress,
  random: parts.random,
  signer: () => parts.signerOf(repositories, caller.accountId),
});

/** The response that a refusal of the use case leaves under its key. What leaves none is thrown on. */
function responseToStore({ route }: AuthorizedRequest, error: unknown): StoredResponse {
  const refusal = toApiError(route.endpoint, error);
  if (refusal.status >= 500 || REFUSALS_OF_TOKENS.includes(refusal.reason)) throw error;
  return { status: refusal.status, contentType: JSON_TYPE, body: JSON.stringify(payloadOf(refusal)) };
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

function attempt<T>(work: () => T): Attempt<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error };
  }
}
