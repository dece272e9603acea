/** A clock for tests: it stands still until it is moved, and goes forward only. */
export interface TestClock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Moves the clock, and waits until the jobs of the servers that use it have run.
   *
   * @throws RangeError when that would be backwards
   */
  moveTo(epochMs: number): Promise<void>;
  /** Calls `listener` after each move; returns a function that stops this. */
  onMoved(listener: () => Promise<void>): () => void;
}

/** Makes a clock that stands at `epochMs`: `startServer({ clock: createTestClock(…) })`. Decision 0012. */
export function createTestClock(epochMs: number): TestClock {
  let now = epochMs;
  const listeners = new Set<() => Promise<void>>();
  return {
    now: () => now,
    async moveTo(next) {
      if (!(next >= now)) throw new RangeError('a test clock goes forward only');
      now = next;
      await Promise.all([...listeners].map((listener) => listener()));
    },
    onMoved(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
