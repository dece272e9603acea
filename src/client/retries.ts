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

  /** Waits for a request in progress, up to `maxWaitMs` in all. */
  function waitForRequest(askedMs: number | null, random: number): number | null {
    const waitMs = Math.max(BASE_BACKOFF_MS, askedMs ?? backoff(inProgress, random));
    inProgressMs += waitMs;
    return inProgressMs > maxWaitMs ? null : waitMs;
  }

  /** Waits for the rate limit: four times, or up to `maxWaitMs` in all, since callers of one token may use up each other's requests. */
  function waitForRateLimit(askedMs: number | null, random: number): number | null {
    rateLimits += 1;
    const waitMs = askedMs ?? Math.min(backoff(rateLimits, random), maxWaitMs);
    rateLimitedMs += Math.max(MIN_BACKOFF_MS, waitMs);
    const isWithinRetries = maxRetries !== null || rateLimits <= DEFAULT_RETRIES || rateLimitedMs <= maxWaitMs;
    return isWithinRetries && waitMs <= maxWaitMs ? waitMs : null;
  }

  /** Waits for a service that fails or is away, until its time is used up. */
  function waitForService(error: CallError, askedMs: number | null, random: number): number | null {
    if (!isOutage(error)) reachedFailures += 1;
    if (maxRetries === null && reachedFailures > DEFAULT_RETRIES) return null;
    if (askedMs !== null && askedMs > maxWaitMs) return null;
    const remainingMs = (isUnreachable(error) ? limits.maxUnreachableMs : limits.maxElapsedMs) - failingMs;
    if (!(remainingMs > 0)) return null;
    const backoffMs = Math.min(backoff(failures, random), Math.ceil(remainingMs));
    const waitMs = askedMs === null ? backoffMs : Math.max(MIN_BACKOFF_MS, askedMs);
    failingMs += waitMs;
    return waitMs;
  }

  return ({ error, durationMs, random }) => {
    if (failingMs > 0) failingMs += durationMs;
    const waitsForRequest = error instanceof ApiError && isInProgress(error);
    if (!waitsForRequest && !isTransient(error)) return null;
    if (waitsForRequest) inProgress += 1;
    else failures += 1;
    if (maxRetries !== null && !(failures + inProgress <= maxRetries)) return null;
    const askedMs = retryAfterOf(error);
    if (waitsForRequest) return waitForRequest(askedMs, random);
    if (hasStatus(error, 429)) return waitForRateLimit(askedMs, random);
    // Of the other statuses, only 503 uses `Retry-After` in the contract.
    return waitForService(error, hasStatus(error, 503) ? askedMs : null, random);
  };
}

/** Whether another attempt may succeed. */
export const isTransient = (error: CallError): boolean =>
  error instanceof NetworkError
    ? error.retryable
    : hasStatus(error, 429, 500, 502, 503, 504) && !('keyLost' in error && error.keyLost);

/** The milliseconds that the service asks to wait; null when it does not say. */
export const retryAfterOf = (error: CallError): number | null =>
  error instanceof NetworkError ? null : error.retryAfterMs;

/** The service, or the proxy in front of it, is down for now, as in a restart. */
const isOutage = (error: CallError): boolean => isUnreachable(error) || hasStatus(error, 502, 503, 504);

const isUnreachable = (error: CallError): boolean => error instanceof NetworkError && error.unreachable;

const hasStatus = (error: CallError, ...statuses: readonly number[]): boolean =>
  'status' in error && statuses.includes(error.status);

const backoff = (attempt: number, random: number) =>
  Math.max(MIN_BACKOFF_MS, Math.floor(random * Math.min(MAX_BACKOFF_MS, BASE_BACKOFF_MS * 2 ** (attempt - 1))));
