import { setImmediate as turn } from 'node:timers/promises';
import type { Timing } from '../../src/index.ts';
import { noon } from './fake-timing.ts';

/** Time that passes when the test says so. */
export interface ManualTiming extends Timing {
  /** Lets time pass; whoever sleeps wakes up in order, and does what there is to do before time goes on. */
  pass(ms: number): Promise<void>;
}

/** Begins at noon; chance is always one half; keys are `key-1`, `key-2`, … */
export function manualTiming(): ManualTiming {
  const sleepers = new Set<{ readonly until: number; wake(): void }>();
  let now = noon;
  let keys = 0;
  const settle = async () => {
    for (let i = 0; i < 5; i += 1) await turn();
  };
  return {
    now: () => now,
    random: () => 0.5,
    newKey: () => `key-${++keys}`,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
    pass: async (ms) => {
      const end = now + ms;
      await settle();
      for (;;) {
        const [next] = [...sleepers].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until);
        if (next === undefined) break;
        sleepers.delete(next);
        now = next.until;
        next.wake();
        await settle();
      }
      now = end;
    },
  };
}
