import type { HttpBindings } from '@hono/node-server';
import type { Context as Exchange } from 'hono';
import type { Logger } from 'pino';
import { mutates } from '../contract/endpoint.ts';
import { refuse } from '../contract/errors.ts';
import type { Instant } from '../contract/scalars.ts';
import { allows, anonymous, type Caller } from '../domain/access.ts';
import type { IpAddress } from '../domain/mask.ts';
import type { Context } from '../service/context.ts';
import type { Rows, Store } from '../store/store.ts';
import type { AddressOf } from './address.ts';
import { authenticate } from './authenticate.ts';
import type { RateLimiter } from './rate-limit.ts';
import { readInput } from './read-input.ts';
import { json, refusal, retirementHeaders, toRefusal } from './respond.ts';
import type { Route } from './routes.ts';
import type { SignerOf } from './signers.ts';

/** What the service is made of. Time and randomness come from here and from nowhere else. */
export interface AppParts {
  readonly store: Store;
  readonly log: Logger;
  /** Null is without limits. */
  readonly limiter: RateLimiter | null;
  readonly addressOf: AddressOf;
  readonly signerOf: SignerOf;
  /** The caller that a fixed token speaks for: the owner of a database that is opened in process. */
  readonly owner?: { readonly token: string; readonly caller: Caller };
  now(): Instant;
  random(length: number): Uint8Array;
  newRequestId(): string;
}

/** What the HTTP server adds to a request; nothing in process. */
export type Env = { Bindings: Partial<HttpBindings> };

/** The pipeline: authenticate, limit, check the scope, read and parse, perform, commit, answer. */
export async function answer(
  parts: AppParts,
  { endpoint, perform }: Route,
  exchange: Exchange<Env>,
): Promise<Response> {
  const started = performance.now();
  const { req } = exchange;
  const requestId = parts.newRequestId();
  const headers: Record<string, string> = { 'X-Request-Id': requestId, ...retirementHeaders(endpoint) };
  const now = parts.now();
  const ipAddress = parts.addressOf(
    exchange.env?.incoming?.socket.remoteAddress,
    req.header('x-forwarded-for') ?? null,
  );
  let caller = anonymous;
  let response: Response;
  try {
    if (endpoint.scope !== 'public') {
      caller = await identify(parts, req.header('authorization') ?? null, { now, ipAddress, headers });
      if (!allows(caller, endpoint.scope)) throw refuse('scopeMissing');
    }
    const input = await readInput(endpoint, req.raw);
    const contextOn = (rows: Rows): Context => ({
      rows,
      caller,
      now,
      ipAddress,
      random: parts.random,
      signer: () => parts.signerOf(rows, caller.accountId),
    });
    const payload = mutates(endpoint)
      ? await parts.store.transaction((rows) => perform(contextOn(rows), input))
      : await perform(contextOn(parts.store.rows), input);
    response = json(endpoint.reply.status, endpoint.reply.wrap(payload as never), headers);
  } catch (thrown) {
    const error = toRefusal(endpoint, thrown);
    if (error.reason === 'serverError') parts.log.error({ requestId, err: error.cause }, 'request failed');
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
    },
    'request',
  );
  return response;
}

/** Who asks, within their limits. Throws ApiError `invalidToken` or `rateLimited`; adds the limit's headers. */
async function identify(
  { store, limiter, owner }: AppParts,
  authorization: string | null,
  { now, ipAddress, headers }: { now: Instant; ipAddress: IpAddress; headers: Record<string, string> },
): Promise<Caller> {
  if (owner !== undefined && authorization === `Bearer ${owner.token}`) return owner.caller;
  const caller = await authenticate(store.rows, authorization, now);
  const allowance =
    caller === null ? await limiter?.takeFailure(ipAddress) : await limiter?.takeRequest(caller.tokenId ?? '');
  Object.assign(headers, allowance?.headers);
  if (allowance?.allowed === false) throw refuse('rateLimited');
  if (caller === null) throw refuse('invalidToken');
  return caller;
}
