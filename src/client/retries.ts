import { ApiError } from '../contract/errors.ts';
import { type CallError, isInProgress, NetworkError } from './errors.ts';

/** How long and how often a call may be repeated; `ClientOptions` documents each. */
export interface RetryLimits {
  /** Null when the caller set no number. */
  readonly maxRetries: number | null;
  readonly maxElapsedMs: number;
  readonly maxUnreachableMs: number;
  readonly maxWaitMs: number;
}

/** The default number of retries. */
const DEFAULT_RETRIES = 4;

const BASE_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5_000;
/** The shortest wait: without it, jitter of 0 would make endless retries. */
const MIN_BACKOFF_MS = 50;

/** A failed attempt that took `durationMs`; `random` is at least 0 and below 1. */
interface FailedAttempt {
  readonly error: CallError;
  readonly durationMs: number;
  readonly random: number;
}

/**
 * Returns a function that counts the failed attempts of one call, and returns the milliseconds until the next attempt, or null when
 * the call ends. The wait is exponential backoff with full jitter, or the time that the service asks for. Mutations are repeated as
 * reads are, since their idempotency key makes that safe. Decision 0018 has the numbers.
 */
export function countRetries(limits: RetryLimits): (failed: FailedAttempt) => number | null {
  const { maxRetries, maxWaitMs } = limits;
  let failures = 0;
  /** The number of failures in which the service was reached. */
  let reachedFailures = 0;
  /** Milliseconds since the first failure other than a rate limit: attempts and waits. */
  let failingMs = 0;
  let inProgress = 0;
  let inProgressMs = 0;
  let rateLimits = 0;
  let rateLimitedMs = 0;

  /** Waits for the rate limit: four times, or up to `maxWaitMs` in all, since callers of one token may use up each other's requests. */
  function waitForRateLimit(askedMs: number | null, random: number): number | null {
    rateLimits += 1;
    const waitMs = askedMs ?? Math.min(backoff(rateLimits, random), maxWaitMs);
    rateLimitedMs += Math.max(MIN_BACKOFF_MS, waitMs);
    const isWithinRetries =
      maxRetries === null
        ? rateLimits <= DEFAULT_RETRIES || rateLimitedMs <= maxWaitMs
        : failures + inProgress <= maxRetries;
    return isWithinRetries && waitMs <= maxWaitMs ? waitMs : null;
  }

  /** Waits for a request in progress, up to `maxWaitMs` in all. */
  function waitForOther({ retryAfterMs }: ApiError, random: number): number | null {
    inProgress += 1;
    if (maxRetries !== null && !(failures + inProgress <= maxRetries)) return null;
    const waitMs = Math.max(BASE_BACKOFF_MS, retryAfterMs ?? backoff(inProgress, random));
    if (inProgressMs + waitMs > maxWaitMs) return null;
    inProgressMs += waitMs;
    return waitMs;
  }

  return ({ error, durationMs, random }) => {
    if (failingMs > 0) failingMs += durationMs;
    if (error instanceof ApiError && isInProgress(error)) return waitForOther(error, random);
    failures += 1;
    // Only these statuses use `Retry-After` in the contract.
    const askedMs = hasStatus(error, 429, 503) && 'retryAfterMs' in error ? error.retryAfterMs : null;
    if (hasStatus(error, 429)) return waitForRateLimit(askedMs, random);
    if (!isOutage(error)) reachedFailures += 1;
    const isWithinRetries =
      maxRetries === null ? isOutage(error) || reachedFailures <= DEFAULT_RETRIES : failures + inProgress <= maxRetries;
    if (!isTransient(error) || !isWithinRetries) return null;
    if (askedMs !== null && askedMs > maxWaitMs) return null;
    const backoffMs = backoff(failures, random);
    const remainingMs = (isUnreachable(error) ? limits.maxUnreachableMs : limits.maxElapsedMs) - failingMs;
    if (!(remainingMs > 0)) return null;
    const waitMs = askedMs === null ? Math.min(backoffMs, Math.ceil(remainingMs)) : Math.max(MIN_BACKOFF_MS, askedMs);
    failingMs += waitMs;
    return waitMs;
  };
}

/** Whether another attempt may succeed. */
export const isTransient = (error: CallError): boolean =>
  error instanceof NetworkError ? error.retryable : hasStatus(error, 429, 500, 502, 503, 504);

/** The service, or the proxy in front of it, is down for now, as in a restart. */
const isOutage = (error: CallError): boolean => isUnreachable(error) || hasStatus(error, 502, 503, 504);

const isUnreachable = (error: CallError): boolean => error instanceof NetworkError && error.unreachable;

const hasStatus = (error: CallError, ...statuses: readonly number[]): boolean =>
  'status' in error && statuses.includes(error.status);

const backoff = (attempt: number, random: number) =>
  Math.max(MIN_BACKOFF_MS, Math.floor(random * Math.min(MAX_BACKOFF_MS, BASE_BACKOFF_MS * 2 ** (attempt - 1))));
