import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CallError, NetworkError, ProtocolError } from '../../src/client/errors.ts';
import { countRetries, type RetryLimits } from '../../src/client/retries.ts';
import { ApiError } from '../../src/contract/errors.ts';

const call = { operation: 'POST /create-key', idempotencyKey: 'key-1', attempts: 1 };
const stop = null;

const refusal = (status: number, code: number, retryAfterMs: number | null = null) =>
  new ApiError({ status, code, message: 'no', reason: null, retryAfterMs });
const page = (status: number) => new ProtocolError('strange', { call, status, foreign: false });
const network = (details: Partial<NetworkError>) =>
  new NetworkError('no', { call, sent: true, timedOut: false, ...details });
const reset = network({});
const refused = network({ reached: false, unreachable: true });
const untrusted = network({ reached: false, retryable: false });
const inProgress = (retryAfterMs: number | null = 1_000) => refusal(409, 3, retryAfterMs);
const rateLimited = refusal(429, 3, 1_000);

const limits = { maxRetries: 4, maxElapsedMs: 30_000, maxUnreachableMs: 30_000, maxWaitMs: 60_000 };

/** The waits after these failures of one call, of which each attempt takes so long. */
function waitsAfter(failures: readonly CallError[], changes: Partial<RetryLimits> = {}, durationMs = 0) {
  const delayAfter = countRetries({ ...limits, ...changes });
  return failures.map((error) => delayAfter({ error, durationMs, random: 0.5 }));
}

const times = <T>(count: number, value: T): T[] => Array<T>(count).fill(value);

test.each<[string, CallError, number | null]>([
  ['repeats after a lost response', reset, 125],
  ['repeats after a refused connection', refused, 125],
  ['gives up on a certificate that is not to be trusted', untrusted, stop],
  ['repeats after a 500', refusal(500, 1), 125],
  ['repeats after a 502 that is a page', page(502), 125],
  ['repeats after a 504 that is a page', page(504), 125],
  ['ignores Retry-After on a 500', refusal(500, 1, 9_000), 125],
  ['waits as long as a 503 asks for', refusal(503, 1, 7_000), 7_000],
  ['waits a moment when a 503 asks for none', refusal(503, 1, 0), 50],
  ['gives up at once when a 503 asks for more than is allowed', refusal(503, 1, 60_001), stop],
  ['waits as long as a 429 asks for', refusal(429, 3, 60_000), 60_000],
  ['gives up at once when a 429 asks for more than is allowed', refusal(429, 3, 60_001), stop],
  ['backs off when a 429 does not say how long', refusal(429, 3), 125],
  ['waits for a request in progress', inProgress(), 1_000],
  ['waits at least 250 ms for it', inProgress(0), 250],
  ['leaves a conflict on data alone', refusal(409, 2), stop],
  ['leaves a response in a wrong shape alone', page(200), stop],
  ['leaves a redirect alone', page(302), stop],
  ...[400, 401, 403, 404, 405, 408, 413, 422].map((status): [string, CallError, null] => [
    `never repeats after a ${status}`,
    refusal(status, 1),
    stop,
  ]),
])('%s', (_title, error, delay) => {
  expect(waitsAfter([error])).toEqual([delay]);
});

const fourWaits = [125, 250, 500, 1_000];
const noNumber = { maxRetries: null };

test.each<[string, readonly CallError[], readonly (number | null)[], Partial<RetryLimits>?, number?]>([
  ['repeats four times when it is told so', times(5, reset), [...fourWaits, stop]],
  ['counts refused connections too when it is told a number', times(5, refused), [...fourWaits, stop]],
  ['repeats lost responses four times by default', times(5, reset), [...fourWaits, stop], noNumber],
  [
    'repeats while the service is away until the time is used up, to its last millisecond',
    times(16, refused),
    [...fourWaits, 2_000, ...times(10, 2_500), 1_125],
    noNumber,
  ],
  [
    'blames the service for none of the failures in which it was away',
    [refused, page(502), refusal(503, 1), refusal(504, 1), ...times(5, reset)],
    [...fourWaits, 2_000, ...times(3, 2_500), stop],
    noNumber,
  ],
  [
    'goes on after a refused connection that follows lost responses',
    [...times(4, reset), refused],
    [...fourWaits, 2_000],
    noNumber,
  ],
  ['begins the time with the first failure', times(3, refused), [125, 250, stop], noNumber, 20_000],
  [
    'neither a rate limit nor a request in progress uses the time up',
    [rateLimited, inProgress(), rateLimited, refused, refused, rateLimited],
    [1_000, 1_000, 1_000, 500, 500, 1_000],
    { ...noNumber, maxElapsedMs: 1_000, maxUnreachableMs: 1_000 },
  ],
  [
    'does not count waits for a request in progress by default',
    [...times(8, inProgress()), reset],
    [...times(8, 1_000), 125],
    noNumber,
  ],
  [
    'makes no more attempts than it is told, whatever fails',
    [inProgress(), rateLimited, reset, inProgress(), inProgress(), reset, rateLimited],
    [1_000, 1_000, 250, 1_000, stop, stop, stop],
  ],
  ['makes one attempt when it is told so', [inProgress()], [stop], { maxRetries: 0 }],
  ['backs off from a request in progress', times(4, inProgress(null)), [250, 250, 500, 1_000]],
  [
    'waits for a request in progress no longer than the limit in all',
    times(4, inProgress()),
    [1_000, 1_000, 1_000, stop],
    { maxWaitMs: 3_999 },
  ],
  ['waits for a rate limit as long as the limit in all', times(61, rateLimited), [...times(60, 1_000), stop], noNumber],
  ['waits four times for it, however long', times(5, refusal(429, 3, 60_000)), [...times(4, 60_000), stop], noNumber],
  ['blames the service for no rate limit', [...times(8, rateLimited), reset], [...times(8, 1_000), 2_500], noNumber],
  ['waits for it as long as the limit', times(4, inProgress()), times(4, 1_000), { maxWaitMs: 4_000 }],
  ['backs off from a 429 no longer than the limit', [refusal(429, 3)], [100], { maxWaitMs: 100 }],
  [
    'gives up a service that is away after a time of its own',
    [refused, refused],
    [125, stop],
    { ...noNumber, maxUnreachableMs: 125 },
  ],
  ['which is not that of others', [refused, refusal(503, 1)], [125, 250], { ...noNumber, maxUnreachableMs: 125 }],
  ['does not take a number that is none for endless: retries', [refused], [stop], { maxRetries: Number.NaN }],
  ['does not take a number that is none for endless: time', [reset], [stop], { ...noNumber, maxElapsedMs: Number.NaN }],
])('over several attempts: %s', (_title, failures, waits, changes, durationMs) => {
  expect(waitsAfter(failures, changes, durationMs)).toEqual(waits);
});

test('a call ends, whatever the service answers, and no wait is longer than it may be', () => {
  const answers = fc
    .record({ status: fc.constantFrom(409, 429, 500, 502, 503, 504), retryAfterMs: fc.option(fc.nat(200_000)) })
    .map(({ status, retryAfterMs }) => refusal(status, 3, retryAfterMs));
  const errors = fc.infiniteStream(fc.oneof(fc.constantFrom<CallError>(reset, refused), answers));
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(errors, chances, fc.option(fc.nat(1_000)), fc.nat(90_000), (stream, random, maxRetries, maxWaitMs) => {
      const delayAfter = countRetries({ ...limits, maxRetries, maxWaitMs });
      let attempts = 0;
      for (const error of stream) {
        const waitMs = delayAfter({ error, durationMs: 0, random });
        if (waitMs === null) break;
        expect(Number.isInteger(waitMs)).toBe(true);
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(waitMs).toBeLessThanOrEqual(Math.max(5_000, maxWaitMs));
        attempts += 1;
        expect(attempts).toBeLessThan(10 + 30_000 / 50 + 90_000 / 250 + 1_000);
      }
    }),
  );
});
