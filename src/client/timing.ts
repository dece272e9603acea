import { setTimeout as delay } from 'node:timers/promises';

/** The longest timer in milliseconds: with more than this Node fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Clock, timers and random numbers; tests set them. */
export interface Timing {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** At least 0, below 1. */
  random(): number;
  /** A new idempotency key. */
  newKey(): string;
}

/** The system's clock, timers and random numbers. */
export const systemTiming: Timing = {
  now: Date.now,
  sleep: async (ms, signal) => {
    await delay(Math.min(ms, MAX_TIMER_MS), undefined, { signal }).catch(() => signal?.throwIfAborted());
  },
  random: Math.random,
  newKey: () => crypto.randomUUID(),
};
