import type { Instant } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import type { IpAddress } from '../domain/mask.ts';
import type { Context } from '../service/context.ts';
import type { StoredAnswer } from '../store/idempotency.ts';
import type { Rows } from '../store/store.ts';
import type { Settled } from './exactly-once.ts';
import type { Received } from './exchange.ts';
import { fingerprintOf } from './fingerprint.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import type { AppParts } from './pipeline.ts';
import { readInput } from './read-input.ts';
import { JSON_TYPE, payloadOf, toRefusal } from './respond.ts';
import type { Route } from './routes.ts';

/** One request that has passed the gates in front of every endpoint. */
export interface Ask {
  readonly route: Route;
  readonly received: Received;
  readonly caller: Caller;
  readonly now: Instant;
  readonly ipAddress: IpAddress;
}

const NO_BODY = new Uint8Array();

/** Answers a read, from what is durable. */
export async function readOnly(parts: AppParts, ask: Ask): Promise<Settled> {
  const input = readInput(ask.route.endpoint, ask.received, NO_BODY);
  return { ...(await perform(parts, ask, parts.store.rows, input)), replayed: false };
}

/** Performs a mutation in one transaction; under an idempotency key once, however often it is asked. */
export async function mutate(parts: AppParts, ask: Ask): Promise<Settled> {
  const { route, received, caller, now } = ask;
  const { endpoint } = route;
  const key = readIdempotencyKey(received.headers);
  const bytes = await received.readBody();
  const input = attempt(() => readInput(endpoint, received, bytes));

  if (key === null || (input.ok && !route.mayReplay(caller, input.value))) {
    if (!input.ok) throw input.error;
    const answer = await parts.store.transaction((rows) => perform(parts, ask, rows, input.value));
    return { ...answer, replayed: false };
  }
  const fingerprint = fingerprintOf(endpoint.method, received.target, bytes);
  const claim = { accountId: caller.accountId, key, fingerprint, method: endpoint.method, path: endpoint.path, now };
  return await parts.exactlyOnce(claim, async (rows) => {
    try {
      if (!input.ok) throw input.error;
      return await rows.nested(() => perform(parts, ask, rows, input.value));
    } catch (error) {
      return refusalToStore(ask, error);
    }
  });
}

async function perform(parts: AppParts, ask: Ask, rows: Rows, input: unknown): Promise<StoredAnswer> {
  const { route, caller, now, ipAddress } = ask;
  const context: Context = {
    rows,
    caller,
    now,
    ipAddress,
    random: parts.random,
    signer: () => parts.signerOf(rows, caller.accountId),
  };
  const { status, wrap } = route.endpoint.reply;
  const payload = await route.perform(context, input);
  return { status, contentType: JSON_TYPE, body: JSON.stringify(wrap(payload as never)) };
}

/** The answer that a refusal of the use case leaves under its key. A failure leaves none, and is thrown on. */
function refusalToStore({ route }: Ask, error: unknown): StoredAnswer {
  const refusal = toRefusal(route.endpoint, error);
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
