import type { Instant } from '../../contract/scalars.ts';
import type { DeliveryState } from '../../contract/webhooks.ts';
import { addMilliseconds, addSeconds, later } from '../time.ts';

const HOUR_SECONDS = 3_600;

/** How long to wait after each failed attempt, in seconds: 5 s, 5 and 30 min, 2 to 24 h (Standard Webhooks, "Retry schedule"). */
export const RETRY_SECONDS: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Each wait is longer by up to this random part of it, so that events that failed together are not all retried together. */
const JITTER = 0.2;

/** The longest time for which a receiver may ask to be left alone, in seconds. */
const MAX_RETRY_AFTER_SECONDS = 24 * HOUR_SECONDS;

/** No wait is longer than this, in seconds. */
export const LONGEST_WAIT_SECONDS = Math.max(...RETRY_SECONDS) * (1 + JITTER);

/** How long nothing may have been accepted until a job disables a webhook, in seconds. */
export const FAILING_SECONDS = 5 * 24 * HOUR_SECONDS;

/** The status by which a receiver says that it wants no more events (Standard Webhooks). */
const GONE = 410;

/** How a receiver has answered an attempt. */
export interface Outcome {
  readonly accepted: boolean;
  /** The status of the response; null without a response. */
  readonly status: number | null;
  /** The `Retry-After` of the response, in seconds; null without that header. */
  readonly retryAfterSeconds: number | null;
}

/** The attempt whose outcome decides about the next attempt. */
interface Attempt {
  /** How often it was sent, this time included. */
  readonly attempts: number;
  readonly now: Instant;
  /** At least 0 and below 1. */
  readonly random: number;
}

/**
 * The state of a delivery after an attempt: delivered, or waiting for the next attempt; the last interval repeats for ever.
 */
export function progressAfter(
  { accepted, retryAfterSeconds }: Outcome,
  { attempts, now, random }: Attempt,
  schedule: readonly number[] = RETRY_SECONDS,
): { readonly state: DeliveryState; readonly nextAttemptAt: Instant | null } {
  if (accepted) return { state: 'delivered', nextAttemptAt: null };
  const seconds = schedule[Math.min(attempts, schedule.length) - 1] ?? LONGEST_WAIT_SECONDS;
  const scheduled = addMilliseconds(now, Math.round(seconds * 1_000 * (1 + JITTER * random)));
  return { state: 'waiting', nextAttemptAt: later(scheduled, pauseOf(retryAfterSeconds, now) ?? scheduled) };
}

/** How a webhook is doing as a whole. */
interface Health {
  /** Since when nothing was accepted; null when the last attempts were. */
  readonly failingSince: Instant | null;
  /** Until when the receiver wants nothing sent; null when it has not said so. */
  readonly pausedUntil: Instant | null;
}

/** The state of a webhook after some attempts, and whether its receiver wants no more events. */
export function healthAfter(
  before: Health,
  outcomes: readonly Outcome[],
  now: Instant,
): Health & { readonly isGone: boolean } {
  const failed = outcomes.filter(({ accepted }) => !accepted);
  const pauses = failed.flatMap(({ retryAfterSeconds }) => pauseOf(retryAfterSeconds, now) ?? []);
  const pausedUntil = [before.pausedUntil ?? [], pauses].flat().sort().at(-1) ?? null;
  const isGone = outcomes.some(({ status }) => status === GONE);
  const isWell = failed.length < outcomes.length && !isGone;
  const failingSince = isWell ? null : failed.length > 0 ? (before.failingSince ?? now) : before.failingSince;
  return { failingSince, pausedUntil, isGone };
}

/** Until when the receiver asks to be left alone, at most a day; null when it does not. */
const pauseOf = (retryAfterSeconds: number | null, now: Instant): Instant | null =>
  retryAfterSeconds === null ? null : addSeconds(now, Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS));
