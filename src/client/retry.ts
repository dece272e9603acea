import { type History, isPending } from './history.ts';
import type { Outcome } from './outcome.ts';

/** What comes after an attempt. */
export type Decision = { readonly retry: true; readonly waitMs: number } | { readonly retry: false };

/** What the caller allows. */
export interface RetryLimits {
  readonly maxRetries: number;
  readonly maxWaitMs: number;
}

const baseMs = 250;
const capMs = 8_000;
const stop: Decision = { retry: false };

/**
 * Whether an attempt is worth repeating, and when: exponential backoff with full jitter, or what the service asks
 * for. Reads and mutations alike, since the idempotency key makes a repetition safe.
 *
 * `history` includes the attempt; `random` is at least 0 and below 1.
 */
export function decideRetry(outcome: Outcome, history: History, limits: RetryLimits, random: number): Decision {
  if (isPending(outcome)) return decideWait(outcome, history, limits, random);
  const failures = history.attempts - history.pendings;
  if (!isTransient(outcome) || !(failures <= limits.maxRetries)) return stop;
  const backoffMs = backoff(failures, random);
  if (!asksForTime(outcome)) return { retry: true, waitMs: backoffMs };
  const waitMs = retryAfter(outcome) ?? Math.min(backoffMs, limits.maxWaitMs);
  return waitMs <= limits.maxWaitMs ? { retry: true, waitMs } : stop;
}

/** A request in progress is waited for up to `maxWaitMs` in all; the floor makes sure that the waits add up. */
function decideWait(outcome: Outcome, history: History, limits: RetryLimits, random: number): Decision {
  const waitMs = Math.max(baseMs, retryAfter(outcome) ?? backoff(history.pendings, random));
  return history.pendingMs + waitMs <= limits.maxWaitMs ? { retry: true, waitMs } : stop;
}

function isTransient(outcome: Outcome): boolean {
  if (outcome.kind === 'loss') return !outcome.hopeless;
  return [429, 500, 502, 503, 504].includes(outcome.status);
}

const asksForTime = (outcome: Outcome) => 'status' in outcome && [429, 503].includes(outcome.status);

const retryAfter = (outcome: Outcome) => ('retryAfterMs' in outcome ? outcome.retryAfterMs : null);

const backoff = (attempt: number, random: number) => Math.floor(random * Math.min(capMs, baseMs * 2 ** (attempt - 1)));
