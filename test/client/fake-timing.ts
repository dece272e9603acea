import type { Timing } from '../../src/index.ts';

/** 2026-11-21, 12:00 UTC. */
export const noon = Date.UTC(2026, 10, 21, 12);

/** Time that passes only in sleeps, which end at once; chance is always one half; keys are `key-1`, `key-2`, … */
export function fakeTiming(): Timing & { readonly waits: number[] } {
  const waits: number[] = [];
  let now = noon;
  let keys = 0;
  return {
    waits,
    now: () => now,
    sleep: async (ms) => {
      waits.push(ms);
      now += ms;
    },
    random: () => 0.5,
    newKey: () => `key-${++keys}`,
  };
}
