import { subscriberOf } from '../../domain/networks.ts';
import { type Rate, remainingOf, waitOf } from '../../domain/rate.ts';
import type { RateCounter, Taken } from './rate-counters.ts';

/** Enough for people and for CI, and a bound on a script that has run away. */
export const DEFAULT_REQUESTS_PER_MINUTE = 6_000;

/** Keys that do not exist, per minute, token and address: typing errors stay below, guessing does not. */
const MISSES_PER_MINUTE = 100;

/** Failed authentications per minute and address. */
const FAILURES_PER_MINUTE = 10;

const WINDOW_SECONDS = 60;

/** Whether a request may go on, and the headers that describe the limit. */
export interface Allowance {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Whose request is counted. */
interface Counted {
  readonly tokenId: string | null;
  /** The token's own number of requests per minute; null is that of the service. */
  readonly rateLimit: number | null;
}

/** Counts requests by token, failed authentications by address, and look-ups of unknown keys by both. */
export interface RateLimiter {
  takeRequest(caller: Counted): Promise<Allowance>;
  takeFailure(address: string): Promise<Allowance>;
  /** Counts a look-up that found nothing. */
  takeMiss(tokenId: string, address: string): Promise<void>;
  /** Whether further look-ups are allowed; takes nothing. */
  checkMisses(tokenId: string, address: string): Allowance;
}

const UNLIMITED: Allowance = { allowed: true, headers: {} };

/** At most this many tokens that have used up their look-ups are remembered: more of them go free for a time. */
const MAX_EXHAUSTED = 10_000;

/** What a limiter works with. */
interface LimiterParts {
  readonly counter: RateCounter;
  /** Microseconds on a clock that only goes forward. */
  now(): number;
}

/**
 * Limits the requests and the look-ups of unknown keys of each token per minute; null is without limit.
 *
 * Headers are those of draft-ietf-httpapi-ratelimit-headers; `Retry-After` is in whole seconds (RFC 9110 §10.2.3).
 */
export function createRateLimiter(
  { counter, now }: LimiterParts,
  requestsPerMinute: number | null,
  missesPerMinute: number | null = MISSES_PER_MINUTE,
  failuresPerMinute: number = FAILURES_PER_MINUTE,
): RateLimiter {
  const failures = { perMinute: failuresPerMinute, burst: failuresPerMinute };
  /** Until when no look-ups are allowed, by whose they are: nearly always empty, and so asked at no cost. */
  const exhausted = new Map<string, number>();
  const misses = missesPerMinute === null ? null : { perMinute: missesPerMinute, burst: missesPerMinute };

  async function take(policy: string, who: string, rate: Rate): Promise<Allowance> {
    return describe(policy, rate, await counter.take(`${policy} ${who}`, rate));
  }

  return {
    async takeRequest({ tokenId, rateLimit }) {
      const perMinute = rateLimit ?? requestsPerMinute;
      return perMinute === null ? UNLIMITED : take('requests', tokenId ?? '', rateOf(perMinute));
    },
    takeFailure: (address) => take('failures', subscriberOf(address), failures),
    async takeMiss(tokenId, address) {
      if (misses === null) return;
      const name = `${tokenId} ${subscriberOf(address)}`;
      const taken = await counter.take(`lookups ${name}`, misses);
      const wait = waitOf(misses, taken.emptyAt, taken.now);
      if (wait <= 0) return;
      if (exhausted.size >= MAX_EXHAUSTED) exhausted.clear();
      exhausted.set(name, now() + wait);
    },
    checkMisses(tokenId, address) {
      if (misses === null || exhausted.size === 0) return UNLIMITED;
      const name = `${tokenId} ${subscriberOf(address)}`;
      const wait = (exhausted.get(name) ?? 0) - now();
      if (wait > 0) return refuse('lookups', misses, { remaining: 0, wait, reset: wait });
      exhausted.delete(name);
      return UNLIMITED;
    },
  };
}

/** Ten seconds' worth at once, or a small limit whole. */
const rateOf = (perMinute: number): Rate => ({
  perMinute,
  burst: Math.min(perMinute, Math.max(10, Math.ceil(perMinute / 6))),
});

function describe(policy: string, rate: Rate, { allowed, emptyAt, now }: Taken): Allowance {
  const state = { remaining: remainingOf(rate, emptyAt, now), reset: emptyAt - now };
  if (!allowed) return refuse(policy, rate, { ...state, wait: waitOf(rate, emptyAt, now) });
  return { allowed, headers: headersOf(policy, rate, state) };
}

const refuse = (
  policy: string,
  rate: Rate,
  state: { readonly remaining: number; readonly wait: number; readonly reset: number },
): Allowance => ({
  allowed: false,
  headers: { ...headersOf(policy, rate, state), 'Retry-After': String(Math.max(1, inSeconds(state.wait))) },
});

const headersOf = (
  policy: string,
  { perMinute }: Rate,
  { remaining, reset }: { readonly remaining: number; readonly reset: number },
) => ({
  'RateLimit-Policy': `"${policy}";q=${perMinute};w=${WINDOW_SECONDS}`,
  RateLimit: `"${policy}";r=${remaining};t=${inSeconds(reset)}`,
});

const inSeconds = (microseconds: number): number => Math.max(0, Math.ceil(microseconds / 1_000_000));
