/** Two clocks, in milliseconds: the wall clock, which can be set, and a monotonic one. */
export interface Clocks {
  wall(): number;
  steady(): number;
}

/** A wall clock that has moved this far relative to the steady one was set: ages computed from it are wrong. */
const JUMP_MS = 60 * 60 * 1_000;

/** The clocks of servers may differ by this much, in seconds. */
export const CLOCK_SLACK_SECONDS = JUMP_MS / 1_000;

/** Notices that the wall clock was set. */
export interface ClockWatch {
  /** Whether it was, since it was trusted last. */
  wasSet(): boolean;
  /** Takes it for right, as it is now. */
  trust(): void;
}

/** Watches the wall clock, which counts as right at first. */
export function watchClock({ wall, steady }: Clocks): ClockWatch {
  let offset = wall() - steady();
  return {
    wasSet: () => Math.abs(wall() - steady() - offset) > JUMP_MS,
    trust: () => {
      offset = wall() - steady();
    },
  };
}
