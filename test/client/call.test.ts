import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NetworkFailure } from '../../src/client/attempt.ts';
import { addAttempt, addWait, noAttempts, type RetryState, retryDelay } from '../../src/client/call.ts';
import type { AttemptResult } from '../../src/client/response.ts';

const limits = { maxRetries: 4, maxElapsedMs: 30_000, maxUnreachableMs: 30_000, maxWaitMs: 60_000 };
const noNumber = { ...limits, maxRetries: null };
const first: RetryState = { ...noAttempts, attempts: 1, failures: 1, reachedFailures: 1 };
const firstInProgress: RetryState = { ...noAttempts, attempts: 1, inProgress: 1 };
const failures = (count: number): RetryState => ({ ...first, failures: count, reachedFailures: count });
const half = 0.5;

const errorResponse = (status: number, code: number, retryAfterMs: number | null = null): AttemptResult => {
  return { kind: 'error-response', status, code, message: 'no', retryAfterMs, fields: [] };
};
const invalidResponse = (status: number): AttemptResult => {
  return { kind: 'invalid-response', status, message: 'strange', retryAfterMs: null, foreign: false };
};
const reset: NetworkFailure = {
  kind: 'network-failure',
  reached: true,
  unreachable: false,
  timedOut: false,
  retryable: true,
  cause: new Error('reset'),
};
const refused: NetworkFailure = { ...reset, reached: false, unreachable: true };
const untrusted: NetworkFailure = { ...reset, reached: false, retryable: false };
const stop = null;

test.each<[string, AttemptResult, RetryState, number | null]>([
  ['accepts a payload', { kind: 'success', payload: {} }, { ...noAttempts, attempts: 1 }, stop],
  ['repeats after a lost response', reset, first, 125],
  ['repeats after a refused connection', refused, first, 125],
  ['gives up on a certificate that is not to be trusted', untrusted, first, stop],
  ['repeats after a 500', errorResponse(500, 1), first, 125],
  ['repeats after a 502 that is a page', invalidResponse(502), first, 125],
  ['repeats after a 504 that is a page', invalidResponse(504), first, 125],
  ['ignores Retry-After on a 500', errorResponse(500, 1, 9_000), first, 125],
  ['waits as long as a 503 asks for', errorResponse(503, 1, 7_000), first, 7_000],
  ['gives up at once when a 503 asks for more than is allowed', errorResponse(503, 1, 60_001), first, stop],
  ['waits as long as a 429 asks for', errorResponse(429, 3, 60_000), first, 60_000],
  ['gives up at once when a 429 asks for more than is allowed', errorResponse(429, 3, 60_001), first, stop],
  ['backs off when a 429 does not say how long', errorResponse(429, 3), first, 125],
  ['doubles the backoff with each failure', reset, failures(3), 500],
  ['repeats four times', reset, failures(4), 1_000],
  ['gives up after the fifth attempt', reset, failures(5), stop],
  ['gives up after the fifth attempt that was refused', refused, failures(5), stop],
  ['does not count waits for a request in progress', reset, { ...first, attempts: 9, inProgress: 8 }, 125],
  ['waits no longer than what is left of the time', reset, { ...first, failingMs: 29_990 }, 10],
  ['uses the last millisecond of the time', reset, { ...first, failingMs: 29_999 }, 1],
  ['gives up when the time is used up', reset, { ...first, failingMs: 30_000 }, stop],
  ['gives a 429 its time all the same', errorResponse(429, 3, 1_000), { ...first, failingMs: 30_000 }, 1_000],
  ['waits for a request in progress', errorResponse(409, 3, 1_000), firstInProgress, 1_000],
  ['waits at least 250 ms for it', errorResponse(409, 3, 0), firstInProgress, 250],
  ['backs off when it does not say how long', errorResponse(409, 3), { ...firstInProgress, inProgress: 4 }, 1_000],
  [
    'goes on waiting up to the limit',
    errorResponse(409, 3, 1_000),
    { ...firstInProgress, inProgressMs: 59_000 },
    1_000,
  ],
  [
    'waits no longer than the limit in all',
    errorResponse(409, 3, 1_000),
    { ...firstInProgress, inProgressMs: 59_001 },
    stop,
  ],
  ['leaves a conflict on data alone', errorResponse(409, 2), first, stop],
  ['leaves a response in a wrong shape alone', invalidResponse(200), first, stop],
  ['leaves a redirect alone', invalidResponse(302), first, stop],
])('with four retries: %s', (_title, result, state, delay) => {
  expect(retryDelay(result, state, limits, half)).toEqual(delay);
});

test.each<[string, AttemptResult, RetryState, number | null]>([
  ['repeats four times after a lost response', reset, failures(4), 1_000],
  ['gives up after the fifth lost response', reset, failures(5), stop],
  ['goes on after a refused connection', refused, { ...failures(20), reachedFailures: 0 }, 2_500],
  ['goes on after a refused connection that follows lost responses', refused, failures(20), 2_500],
  ['goes on after a 502', invalidResponse(502), { ...failures(20), reachedFailures: 0 }, 2_500],
  ['goes on after a 503', errorResponse(503, 1), { ...failures(20), reachedFailures: 0 }, 2_500],
  ['goes on after a 504', errorResponse(504, 1), { ...failures(20), reachedFailures: 0 }, 2_500],
  [
    'counts a lost response that follows refused ones as the first',
    reset,
    { ...failures(20), reachedFailures: 1 },
    2_500,
  ],
  ['gives up on a refused connection when the time is used up', refused, { ...first, failingMs: 30_000 }, stop],
])('without a number of retries: %s', (_title, result, state, delay) => {
  expect(retryDelay(result, state, noNumber, half)).toEqual(delay);
});

test.each([400, 401, 403, 404, 405, 408, 413, 422])('never repeats after a %i', (status) => {
  expect(retryDelay(errorResponse(status, 1), first, noNumber, half)).toEqual(stop);
});

describe('over several attempts', () => {
  /** The state after attempts that took a second each, with waits of two. */
  const stateAfter = (...results: readonly AttemptResult[]): RetryState =>
    results.reduce((state, result) => addWait(addAttempt(state, result, 1_000), result, 2_000), noAttempts);

  test('the time begins with the first failure: its own duration does not count', () => {
    expect(stateAfter(refused).failingMs).toBe(2_000);
    expect(stateAfter(refused, reset).failingMs).toBe(5_000);
  });

  test('neither a rate limit nor a request in progress uses the time up', () => {
    const rateLimited = errorResponse(429, 3);
    const inProgress = errorResponse(409, 3);
    expect(stateAfter(rateLimited, inProgress, rateLimited)).toMatchObject({ failingMs: 0, inProgressMs: 2_000 });
  });

  test('requests in progress are counted apart from failures', () => {
    const inProgress = errorResponse(409, 3);
    expect(stateAfter(inProgress, reset, inProgress)).toMatchObject({ attempts: 3, failures: 1, inProgress: 2 });
  });

  test('only what the service can be blamed for counts as one of four', () => {
    const counted = stateAfter(refused, invalidResponse(502), errorResponse(503, 1), errorResponse(504, 1));
    expect(counted).toMatchObject({ failures: 4, reachedFailures: 0 });
    expect(stateAfter(reset, errorResponse(500, 1), errorResponse(429, 3))).toMatchObject({ reachedFailures: 3 });
  });
});

describe('for any state', () => {
  const results = fc.oneof(
    fc.constant<AttemptResult>(reset),
    fc.constant<AttemptResult>(refused),
    fc
      .record({
        status: fc.constantFrom(409, 429, 500, 502, 503, 504),
        retryAfterMs: fc.option(fc.nat(200_000)),
      })
      .map(({ status, retryAfterMs }) => errorResponse(status, 3, retryAfterMs)),
  );
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const retries = fc.option(fc.nat(1_000));

  test('a wait is a whole number, not negative, and no longer than 5 s or what is allowed', () => {
    fc.assert(
      fc.property(results, fc.nat(500), fc.nat(90_000), chances, (result, attempts, maxWaitMs, random) => {
        const state = { ...failures(attempts + 1), attempts: attempts + 1 };
        const waitMs = retryDelay(result, state, { ...limits, maxRetries: 1_000, maxWaitMs }, random);
        if (waitMs === null) return;
        expect(Number.isInteger(waitMs)).toBe(true);
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(waitMs).toBeLessThanOrEqual(Math.max(5_000, maxWaitMs));
      }),
    );
  });

  test('a call ends, whatever the service answers', () => {
    fc.assert(
      fc.property(fc.infiniteStream(results), chances, retries, (stream, random, maxRetries) => {
        let state = noAttempts;
        for (const result of stream) {
          state = addAttempt(state, result, 0);
          const waitMs = retryDelay(result, state, { ...limits, maxRetries }, random);
          if (waitMs === null) break;
          state = addWait(state, result, waitMs);
          expect(state.attempts).toBeLessThan(10 + 30_000 / 50 + 60_000 / 250 + 1_000);
        }
      }),
    );
  });

  test('a number of retries that is not a number does not mean for ever', () => {
    expect(retryDelay(refused, first, { ...limits, maxRetries: Number.NaN }, half)).toEqual(stop);
    expect(retryDelay(refused, first, { ...noNumber, maxUnreachableMs: Number.NaN }, half)).toEqual(stop);
    expect(retryDelay(reset, first, { ...noNumber, maxElapsedMs: Number.NaN }, half)).toEqual(stop);
  });

  test('where nothing listens is given up after a time of its own', () => {
    const after = { ...first, failingMs: 600 };
    const bounds = { ...noNumber, maxUnreachableMs: 500 };
    expect(retryDelay(refused, after, bounds, half)).toEqual(stop);
    expect(retryDelay(errorResponse(503, 1), after, bounds, half)).toBe(125);
  });
});
