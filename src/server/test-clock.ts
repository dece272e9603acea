import type { InputOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import { moveTestClock } from '../contract/test-clock.ts';
import { addDuration, toInstant } from '../domain/time.ts';
import type { AppParts } from './app-parts.ts';
import { readInput } from './http/input.ts';
import type { HttpRequest, HttpResponse } from './http/messages.ts';
import { handleRequest } from './http/pipeline.ts';

/** A clock for tests: it stands still until it is moved, and goes forward only. */
export interface TestClock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Moves it, and waits until the background work of the servers that use it has seen the new time.
   *
   * @throws RangeError when that would be backwards
   */
  moveTo(epochMs: number): Promise<void>;
  /** Calls `listener` after each move, until the function that is returned is called. */
  onMoved(listener: () => Promise<void>): () => void;
}

/** Makes a clock that stands at `epochMs`: `startServer({ clock: createTestClock(…) })`. Decision 0016. */
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

const route = { name: 'testClock.move', endpoint: moveTestClock, looksUpKey: false, maxAgeSeconds: 0 } as const;

/** Answers `POST /_test/clock`: an admin moves the clock forward, and the jobs that are due then run. */
export const handleMove = (parts: AppParts, clock: TestClock, request: HttpRequest): Promise<HttpResponse> =>
  handleRequest(parts, route, request, async (_, { caller, httpRequest }) => {
    if (caller.kind !== 'admin') throw apiError('scopeMissing');
    const move: InputOf<typeof moveTestClock> = readInput(moveTestClock, httpRequest, await httpRequest.readBody());
    const present = toInstant(clock.now());
    const target = move.advance === undefined ? (move.now ?? present) : addDuration(present, move.advance);
    if (target < present) throw apiError('invalidParams');
    await clock.moveTo(Date.parse(target));
    return { status: 200, body: JSON.stringify(moveTestClock.reply.wrap({ now: target })), replayed: false };
  });
