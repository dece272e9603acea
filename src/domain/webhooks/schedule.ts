import type { Instant } from '../../contract/scalars.ts';
import { addMilliseconds, addSeconds, later } from '../time.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** How long to wait after each failed attempt, in seconds (Standard Webhooks, "Retry schedule"). */
export const RETRY_SECONDS: readonly number[] = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** A wait is longer by up to this part of it, so that what failed together does not come back together. */
const JITTER = 0.2;

/** The longest time for which a receiver may ask to be left alone, in seconds. */
const MAX_RETRY_AFTER_SECONDS = 24 * HOUR;

/** No wait is longer than this, in seconds. */
export const LONGEST_WAIT_SECONDS = Math.max(...RETRY_SECONDS) * (1 + JITTER);

/** How long nothing may have been accepted until a webhook is disabled, in seconds. */
const FAILING_SECONDS = 5 * 24 * HOUR;

/** What the next attempt depends on. */
export interface FailedAttempts {
  /** How often it was sent in vain, this time included. */
  readonly attempts: number;
  readonly now: Instant;
  /** What the receiver asked for in `Retry-After`, in seconds. */
  readonly retryAfterSeconds: number | null;
  /** At least 0 and below 1. */
  readonly random: number;
  /** Whether it is repeated at the last interval until it is accepted. */
  readonly forEver: boolean;
}

/** When an event that failed is sent again; null when it is given up. */
export function nextAttempt(
  { attempts, now, retryAfterSeconds, random, forEver }: FailedAttempts,
  schedule: readonly number[] = RETRY_SECONDS,
): Instant | null {
  const seconds = schedule[attempts - 1] ?? (forEver ? schedule.at(-1) : undefined);
  if (seconds === undefined) return null;
  const scheduled = addMilliseconds(now, Math.round(seconds * 1_000 * (1 + JITTER * random)));
  return later(scheduled, pausedUntil(now, retryAfterSeconds) ?? scheduled);
}

/** Until when the receiver asks to be left alone, at most a day; null when it does not. */
export function pausedUntil(now: Instant, retryAfterSeconds: number | null): Instant | null {
  return retryAfterSeconds === null ? null : addSeconds(now, Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS));
}

/** Whether a webhook has failed for so long that it is disabled. */
export const isFailingTooLong = (failingSince: Instant, now: Instant): boolean =>
  now >= addSeconds(failingSince, FAILING_SECONDS);
