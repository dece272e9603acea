/** Two clocks, in milliseconds: the wall clock, which can be set, and a monotonic one. */
export interface Clocks {
  wall(): number;
  steady(): number;
}

/** A wall clock that has moved this far relative to the steady one was set: ages computed from it are wrong. */
const JUMP_MS = 60 * 60 * 1_000;

/** The clocks of servers may differ by this much, in seconds. */
export const CLOCK_SLACK_SECONDS = JUMP_MS / 1_000;

export type ClockWatch = ReturnType<typeof watchClock>;

/** Notices that the wall clock was set; it counts as right at first. */
export function watchClock({ wall, steady }: Clocks) {
  let offset = wall() - steady();
  return {
    /** Whether it was, since it was trusted last. */
    wasSet: (): boolean => Math.abs(wall() - steady() - offset) > JUMP_MS,
    /** Takes it for right, as it is now. */
    trust: (): void => {
      offset = wall() - steady();
    },
  };
}
