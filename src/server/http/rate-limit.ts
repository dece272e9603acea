import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** Enough for people and for CI, and a bound on a script that has run away. */
export const DEFAULT_REQUESTS_PER_MINUTE = 6_000;

/** Keys that do not exist, per minute, token and address: typing errors stay below, guessing does not. */
const MISSES_PER_MINUTE = 100;

/** Failed authentications per minute and address. */
const FAILURES_PER_MINUTE = 60;

const WINDOW_SECONDS = 60;

/** Whether a request may go on, and the headers that describe the limit. */
export interface Allowance {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Counts requests by token, failed authentications by address, and look-ups of unknown keys by both. */
export interface RateLimiter {
  takeRequest(tokenId: string): Promise<Allowance>;
  takeFailure(address: string): Promise<Allowance>;
  /** Counts a look-up that found nothing. */
  takeMiss(tokenId: string, address: string): Promise<void>;
  /** Whether further look-ups are allowed; takes nothing. */
  checkMisses(tokenId: string, address: string): Promise<Allowance>;
}

const UNLIMITED: Allowance = { allowed: true, headers: {} };

/**
 * Limits each token to so many requests and unknown keys per minute; null is without limit.
 *
 * Headers are those of draft-ietf-httpapi-ratelimit-headers; `Retry-After` is in whole seconds (RFC 9110 §10.2.3).
 */
export function createRateLimiter(
  requestsPerMinute: number | null,
  missesPerMinute: number | null = MISSES_PER_MINUTE,
): RateLimiter {
  const requests = createWindow(requestsPerMinute);
  const misses = createWindow(missesPerMinute);
  const failures = createWindow(FAILURES_PER_MINUTE);
  /** Whose look-ups are used up in this minute: nearly always empty, and so asked at no cost. */
  const exhausted = new Set<string>();
  return {
    takeRequest: (tokenId) => take(requests, 'requests', tokenId),
    takeFailure: (address) => take(failures, 'failures', address),
    async takeMiss(tokenId, address) {
      const name = `${tokenId} ${address}`;
      const state = await misses?.consume(name).catch((state: RateLimiterRes) => state);
      if (state === undefined || state.remainingPoints > 0 || exhausted.has(name)) return;
      exhausted.add(name);
      setTimeout(() => exhausted.delete(name), state.msBeforeNext).unref();
    },
    async checkMisses(tokenId, address) {
      const name = `${tokenId} ${address}`;
      if (misses === null || !exhausted.has(name)) return UNLIMITED;
      const state = await misses.get(name);
      return state === null ? UNLIMITED : describe(misses, 'lookups', { allowed: false, state });
    },
  };
}

const createWindow = (points: number | null) =>
  points === null ? null : new RateLimiterMemory({ points, duration: WINDOW_SECONDS });

async function take(limiter: RateLimiterMemory | null, policy: string, who: string): Promise<Allowance> {
  if (limiter === null) return UNLIMITED;
  // The library rejects with the same state that it resolves with.
  const { allowed, state } = await limiter.consume(who).then(
    (state) => ({ allowed: true, state }),
    (state: RateLimiterRes) => ({ allowed: false, state }),
  );
  return describe(limiter, policy, { allowed, state });
}

function describe(
  { points }: RateLimiterMemory,
  policy: string,
  { allowed, state }: { allowed: boolean; state: RateLimiterRes },
): Allowance {
  const seconds = Math.ceil(state.msBeforeNext / 1_000);
  return {
    allowed,
    headers: {
      'RateLimit-Policy': `"${policy}";q=${points};w=${WINDOW_SECONDS}`,
      RateLimit: `"${policy}";r=${Math.max(0, state.remainingPoints)};t=${seconds}`,
      ...(allowed ? {} : { 'Retry-After': String(Math.max(1, seconds)) }),
    },
  };
}
