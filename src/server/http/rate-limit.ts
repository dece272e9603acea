import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** Generous for people and for CI, and a bound on a script that has run away. */
export const DEFAULT_REQUESTS_PER_MINUTE = 6_000;

/** Guessing tokens is slow work: failed authentications per minute and address. */
const FAILURES_PER_MINUTE = 60;

const WINDOW_SECONDS = 60;

/** Whether a request may go on, and the headers that describe the limit. */
export interface Allowance {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Counts requests by token, and failed authentications by address. */
export interface RateLimiter {
  takeRequest(tokenId: string): Promise<Allowance>;
  takeFailure(address: string): Promise<Allowance>;
}

/**
 * Limits each token to `perMinute` requests.
 *
 * Headers are those of draft-ietf-httpapi-ratelimit-headers; `Retry-After` is in whole seconds (RFC 9110 §10.2.3).
 */
export function createRateLimiter(perMinute: number): RateLimiter {
  const requests = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS });
  const failures = new RateLimiterMemory({ points: FAILURES_PER_MINUTE, duration: WINDOW_SECONDS });
  return {
    takeRequest: (tokenId) => take(requests, 'requests', tokenId),
    takeFailure: (address) => take(failures, 'failures', address),
  };
}

async function take(limiter: RateLimiterMemory, policy: string, who: string): Promise<Allowance> {
  // The library rejects with the same state that it resolves with.
  const { allowed, state } = await limiter.consume(who).then(
    (state) => ({ allowed: true, state }),
    (state: RateLimiterRes) => ({ allowed: false, state }),
  );
  const seconds = Math.ceil(state.msBeforeNext / 1_000);
  return {
    allowed,
    headers: {
      'RateLimit-Policy': `"${policy}";q=${limiter.points};w=${WINDOW_SECONDS}`,
      RateLimit: `"${policy}";r=${state.remainingPoints};t=${seconds}`,
      ...(allowed ? {} : { 'Retry-After': String(Math.max(1, seconds)) }),
    },
  };
}
