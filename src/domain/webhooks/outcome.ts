import type { Instant } from '../../contract/scalars.ts';
import type { DeliveryState, DisabledReason } from '../../contract/webhooks/webhook.ts';
import { later } from '../time.ts';
import { type FailedAttempts, isFailingTooLong, nextAttempt, pausedUntil } from './schedule.ts';

/** What a receiver has made of an event. */
export interface Outcome {
  readonly accepted: boolean;
  /** The status of the response; null without one. */
  readonly status: number | null;
  /** What the receiver asks for in `Retry-After`, in seconds; null when it does not. */
  readonly retryAfterSeconds: number | null;
}

/** The status by which a receiver says that it wants no more events (Standard Webhooks). */
const GONE = 410;

/** Where an event stands after an attempt. */
interface Progress {
  readonly state: DeliveryState;
  readonly nextAttemptAt: Instant | null;
}

/** Where an event stands after an attempt: it is delivered, comes again, or is given up. */
export function progressAfter(
  { accepted, retryAfterSeconds }: Outcome,
  attempt: Omit<FailedAttempts, 'retryAfterSeconds'>,
  schedule?: readonly number[],
): Progress {
  const nextAttemptAt = accepted ? null : nextAttempt({ ...attempt, retryAfterSeconds }, schedule);
  return { state: accepted ? 'delivered' : nextAttemptAt === null ? 'dead' : 'retrying', nextAttemptAt };
}

/** How a webhook is doing as a whole. */
export interface Health {
  /** Since when nothing was accepted; null when the last attempts were. */
  readonly failingSince: Instant | null;
  /** Until when the receiver wants nothing sent; null when it has not said so. */
  readonly pausedUntil: Instant | null;
}

/** What some attempts say of a webhook as a whole, and why it is disabled; null when it is not. */
export function healthAfter(
  before: Health,
  outcomes: readonly Outcome[],
  now: Instant,
): Health & { readonly disabledReason: DisabledReason | null } {
  const paused = pauseAfter(before, outcomes, now);
  if (outcomes.length === 0) return { failingSince: before.failingSince, pausedUntil: paused, disabledReason: null };
  const isGone = outcomes.some(({ status }) => status === GONE);
  if (!isGone && outcomes.some(({ accepted }) => accepted)) {
    return { failingSince: null, pausedUntil: paused, disabledReason: null };
  }
  const failingSince = before.failingSince ?? now;
  const disabledReason = isGone ? 'gone' : isFailingTooLong(failingSince, now) ? 'failing' : null;
  return { failingSince, pausedUntil: paused, disabledReason };
}

/** The longest pause that was asked for, also before. */
function pauseAfter(before: Health, outcomes: readonly Outcome[], now: Instant): Instant | null {
  const failed = outcomes.filter(({ accepted }) => !accepted);
  const asked = failed.flatMap(({ retryAfterSeconds }) => pausedUntil(now, retryAfterSeconds) ?? []);
  return asked.reduce<Instant | null>((last, one) => (last === null ? one : later(last, one)), before.pausedUntil);
}
