import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type History, noHistory } from '../../src/client/history.ts';
import type { Outcome } from '../../src/client/outcome.ts';
import { decideRetry } from '../../src/client/retry.ts';

const limits = { maxRetries: 4, maxWaitMs: 60_000 };
const first: History = { ...noHistory, attempts: 1 };
const firstPending: History = { ...noHistory, attempts: 1, pendings: 1 };
const half = 0.5;

const refusal = (status: number, code: number, retryAfterMs: number | null = null): Outcome => {
  return { kind: 'refusal', status, code, message: 'no', retryAfterMs };
};
const violation = (status: number): Outcome => {
  return { kind: 'violation', status, message: 'strange', retryAfterMs: null };
};
const loss = (hopeless: boolean): Outcome => {
  return { kind: 'loss', reached: !hopeless, timedOut: false, hopeless, cause: new Error('reset') };
};
const wait = (waitMs: number) => ({ retry: true, waitMs });
const stop = { retry: false };

test.each<[string, Outcome, History, object]>([
  ['takes a payload', { kind: 'payload', status: 200, payload: {} }, first, stop],
  ['repeats after a lost answer', loss(false), first, wait(125)],
  ['gives up on a certificate that is not to be trusted', loss(true), first, stop],
  ['repeats after a 500', refusal(500, 1), first, wait(125)],
  ['repeats after a 502 that is a page', violation(502), first, wait(125)],
  ['repeats after a 504 that is a page', violation(504), first, wait(125)],
  ['ignores Retry-After on a 500', refusal(500, 1, 9_000), first, wait(125)],
  ['waits as long as a 503 asks for', refusal(503, 1, 7_000), first, wait(7_000)],
  ['waits as long as a 429 asks for', refusal(429, 3, 60_000), first, wait(60_000)],
  ['gives up at once when a 429 asks for more than is allowed', refusal(429, 3, 60_001), first, stop],
  ['backs off when a 429 does not say how long', refusal(429, 3), first, wait(125)],
  ['doubles the backoff with each failure', loss(false), { ...first, attempts: 3 }, wait(500)],
  ['repeats four times', loss(false), { ...first, attempts: 4 }, wait(1_000)],
  ['gives up after the fifth attempt', loss(false), { ...first, attempts: 5 }, stop],
  ['does not count waits for a request in progress', loss(false), { ...first, attempts: 9, pendings: 8 }, wait(125)],
  ['waits for a request in progress', refusal(409, 3, 1_000), firstPending, wait(1_000)],
  ['waits at least 250 ms for it', refusal(409, 3, 0), firstPending, wait(250)],
  ['goes on waiting up to the limit', refusal(409, 3, 1_000), { ...firstPending, pendingMs: 59_000 }, wait(1_000)],
  ['waits no longer than the limit in all', refusal(409, 3, 1_000), { ...firstPending, pendingMs: 59_001 }, stop],
  ['leaves a conflict on data alone', refusal(409, 2), first, stop],
  ['leaves an answer in a wrong shape alone', violation(200), first, stop],
  ['leaves a redirect alone', violation(302), first, stop],
])('%s', (_title, outcome, history, decision) => {
  expect(decideRetry(outcome, history, limits, half)).toEqual(decision);
});

test.each([400, 401, 403, 404, 405, 408, 413, 422])('never repeats after a %i', (status) => {
  expect(decideRetry(refusal(status, 1), first, limits, half)).toEqual(stop);
});

describe('for any history', () => {
  const outcomes = fc.oneof(
    fc.constant(loss(false)),
    fc
      .record({
        status: fc.constantFrom(409, 429, 500, 502, 503, 504),
        retryAfterMs: fc.option(fc.nat(200_000)),
      })
      .map(({ status, retryAfterMs }) => refusal(status, 3, retryAfterMs)),
  );
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test('a wait is a whole number, not negative, and no longer than 8 s or what is allowed', () => {
    fc.assert(
      fc.property(outcomes, fc.nat(500), fc.nat(90_000), chances, (outcome, attempts, maxWaitMs, random) => {
        const history = { ...noHistory, attempts: attempts + 1 };
        const decision = decideRetry(outcome, history, { maxRetries: 1_000, maxWaitMs }, random);
        if (!decision.retry) return;
        expect(Number.isInteger(decision.waitMs)).toBe(true);
        expect(decision.waitMs).toBeGreaterThanOrEqual(0);
        expect(decision.waitMs).toBeLessThanOrEqual(Math.max(8_000, maxWaitMs));
      }),
    );
  });

  test('a call ends, whatever the service answers', () => {
    fc.assert(
      fc.property(fc.infiniteStream(outcomes), chances, (stream, random) => {
        let history = noHistory;
        for (const outcome of stream) {
          const pendings = history.pendings + ('status' in outcome && outcome.status === 409 ? 1 : 0);
          history = { ...history, attempts: history.attempts + 1, pendings };
          const decision = decideRetry(outcome, history, limits, random);
          if (!decision.retry) break;
          if (pendings > history.pendings) history = { ...history, pendingMs: history.pendingMs + decision.waitMs };
          expect(history.attempts).toBeLessThan(5 + 60_000 / 250);
        }
      }),
    );
  });

  test('no number of retries that is not a number goes on for ever', () => {
    expect(decideRetry(loss(false), first, { ...limits, maxRetries: Number.NaN }, half)).toEqual(stop);
  });
});
