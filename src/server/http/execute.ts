import type { Instant } from '../../contract/scalars.ts';
import type { Caller } from '../../domain/access.ts';
import { newId } from '../../domain/ids.ts';
import type { IpAddress } from '../../domain/mask.ts';
import type { Context } from '../../service/context.ts';
import { record } from '../../service/record.ts';
import type { Repositories } from '../../store/store.ts';
import type { StoredResponse } from '../../store/tables/idempotency.ts';
import type { Settled } from '../idempotency/exactly-once.ts';
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

/** Answers a read, from what is durable. */
export async function readOnly(parts: AppParts, ask: AuthorizedRequest): Promise<Settled> {
  const input = readInput(ask.route.endpoint, ask.received, NO_BODY);
  return { ...(await perform(parts, ask, parts.store.repositories, input)), replayed: false };
}

/** Performs a mutation in one transaction; under an idempotency key once, however often it is asked. */
export async function mutate(parts: AppParts, ask: AuthorizedRequest): Promise<Settled> {
  const { route, received, caller, now } = ask;
  const { endpoint } = route;
  const key = readIdempotencyKey(received.headers);
  const bytes = await received.readBody();
  const input = attempt(() => readInput(endpoint, received, bytes));

  if (key === null || (input.ok && !route.mayReplay(caller, input.value))) {
    if (!input.ok) throw input.error;
    const answer = await parts.store.transaction((repositories) => perform(parts, ask, repositories, input.value));
    return { ...answer, replayed: false };
  }
  const fingerprint = fingerprintOf(endpoint.method, received.target, bytes);
  const claim = { accountId: caller.accountId, key, fingerprint, method: endpoint.method, path: endpoint.path, now };
  return await parts.exactlyOnce(claim, async (repositories) => {
    try {
      if (!input.ok) throw input.error;
      return await repositories.nested(() => perform(parts, ask, repositories, input.value));
    } catch (error) {
      return responseToStore(ask, error);
    }
  });
}

async function perform(
  parts: AppParts,
  ask: AuthorizedRequest,
  repositories: Repositories,
  input: unknown,
): Promise<StoredResponse> {
  const { route, caller, now, ipAddress } = ask;
  const context: Context = {
    repositories,
    caller,
    now,
    ipAddress,
    random: parts.random,
    record: ({ subject, details = {} }) =>
      record(repositories, {
        accountId: caller.accountId,
        id: newId('aud', now, parts.random(10)),
        action: route.name,
        actor: caller.tokenId ?? caller.accountId,
        subject,
        details,
        at: now,
      }),
    signer: () => parts.signerOf(repositories, caller.accountId),
  };
  const { status, wrap } = route.endpoint.reply;
  const payload = await route.perform(context, input);
  return { status, contentType: JSON_TYPE, body: JSON.stringify(wrap(payload as never)) };
}

/** The answer that a refusal of the use case leaves under its key. A failure leaves none, and is thrown on. */
function responseToStore({ route }: AuthorizedRequest, error: unknown): StoredResponse {
  const refusal = toApiError(route.endpoint, error);
  if (refusal.status >= 500) throw error;
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
