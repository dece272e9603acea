import { subscriberOf } from '../../domain/ip-address.ts';
import { type Rate, remainingOf, waitOf } from '../../domain/rate.ts';
import type { RateCounter, Taken } from './rate-counters.ts';

/** Enough for people and for CI; stops a script in an endless loop. */
export const DEFAULT_REQUESTS_PER_MINUTE = 6_000;

/** Keys that do not exist, per minute, token and address: typing errors stay below, guessing does not. */
const MISSES_PER_MINUTE = 100;

/** Failed authentications per minute and address. */
const FAILURES_PER_MINUTE = 10;

/** Requests without a token, per address: many devices behind one address, or a browser that loads the reference. */
const PUBLIC = { perMinute: 600, burst: 100 };

/** Requests for the page of a customer, per address: a person with a browser. */
const PAGE = { perMinute: 60, burst: 30 };

const WINDOW_SECONDS = 60;

export interface Allowance {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Counts requests by token, requests without a token and failed authentications by address, look-ups of unknown keys by both. */
export type RateLimiter = ReturnType<typeof createRateLimiter>;

interface Limits {
  /** For each token; null is without limit. */
  readonly requestsPerMinute: number | null;
  /** Look-ups of unknown keys; null is without limit. */
  readonly missesPerMinute?: number | null | undefined;
  readonly failuresPerMinute?: number | undefined;
  /** Counts requests without a token, which must not wait for a database. */
  readonly publicCounter?: RateCounter;
}

/** Headers follow draft-ietf-httpapi-ratelimit-headers; `Retry-After` is in whole seconds (RFC 9110 §10.2.3). */
export function createRateLimiter(
  counter: RateCounter,
  {
    requestsPerMinute,
    missesPerMinute = MISSES_PER_MINUTE,
    failuresPerMinute = FAILURES_PER_MINUTE,
    publicCounter = counter,
  }: Limits,
) {
  const failures = { perMinute: failuresPerMinute, burst: failuresPerMinute };
  const misses = missesPerMinute === null ? null : { perMinute: missesPerMinute, burst: missesPerMinute };
  const missesOf = (tokenId: string, address: string) => `lookups ${tokenId} ${subscriberOf(address)}`;

  return {
    /** `rateLimit` is the token's own number of requests per minute; null is the service's number. */
    async takeRequest(caller: { tokenId: string | null; rateLimit: number | null }): Promise<Allowance | null> {
      const perMinute = caller.rateLimit ?? requestsPerMinute;
      if (perMinute === null) return null;
      // All requests of a minute may come at once, as a file of orders does.
      const rate = { perMinute, burst: perMinute };
      return describe('requests', rate, await counter.take(`requests ${caller.tokenId ?? ''}`, rate));
    },
    async countFailure(address: string): Promise<Allowance> {
      return describe('failures', failures, await counter.take(`failures ${subscriberOf(address)}`, failures));
    },
    async takePublic(address: string): Promise<Allowance> {
      return describe('public', PUBLIC, await publicCounter.take(`public ${subscriberOf(address)}`, PUBLIC));
    },
    async takePage(address: string): Promise<Allowance> {
      return describe('page', PAGE, await publicCounter.take(`page ${subscriberOf(address)}`, PAGE));
    },
    async countMiss(tokenId: string, address: string): Promise<void> {
      if (misses !== null) await counter.take(missesOf(tokenId, address), misses);
    },
    /** The refusal of further look-ups, or null; counts nothing. */
    checkMisses(tokenId: string, address: string): Allowance | null {
      if (misses === null) return null;
      const found = counter.look(missesOf(tokenId, address), misses);
      return found.allowed ? null : describe('lookups', misses, found);
    },
  };
}

function describe(policy: string, rate: Rate, { allowed, emptyAt, now }: Taken): Allowance {
  const headers = {
    'RateLimit-Policy': `"${policy}";q=${rate.perMinute};w=${WINDOW_SECONDS}`,
    RateLimit: `"${policy}";r=${remainingOf(rate, emptyAt, now)};t=${inSeconds(emptyAt - now)}`,
  };
  if (allowed) return { allowed, headers };
  const retryAfter = Math.max(1, inSeconds(waitOf(rate, emptyAt, now)));
  return { allowed, headers: { ...headers, 'Retry-After': String(retryAfter) } };
}

const inSeconds = (microseconds: number): number => Math.max(0, Math.ceil(microseconds / 1_000_000));
