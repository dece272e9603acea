import { describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../src/cli/config/settings.ts';
import { openClient, openConnection } from '../../src/cli/request/connection.ts';
import { observe } from '../../src/cli/request/observe.ts';
import type { Target } from '../../src/cli/request/target.ts';
import type { AttemptEvent } from '../../src/index.ts';
import { fakeIo, type Surroundings } from './fake-io.ts';

const attempt: AttemptEvent = {
  operation: 'POST /create-key',
  attempt: 1,
  status: null,
  durationMs: 3,
  idempotencyKey: 'k',
  replayed: false,
  willRetryInMs: null,
};

/** What is on stderr once these attempts were made. */
function seen(events: readonly Partial<AttemptEvent>[], surroundings: Surroundings = {}, flags = {}) {
  const { io, printed } = fakeIo({ terminal: { stderr: true }, ...surroundings });
  const observation = observe(readSettings(flags, io), io);
  for (const event of events) observation.onAttempt?.({ ...attempt, ...event });
  const { stderr } = printed;
  observation.end();
  return { stderr, after: printed.stderr, replayed: observation.replayed };
}

const CLEAR = '\r\u001b[K';

/** Runs with a clock that a test moves. */
function withFakeTime<T>(work: () => T): T {
  vi.useFakeTimers();
  try {
    return work();
  } finally {
    vi.useRealTimers();
  }
}

describe('a wait before the next attempt', () => {
  it.each([
    [null, 'the service, which does not answer'],
    [409, 'the first request with this idempotency key'],
    [429, 'the rate limit (429)'],
    [503, 'the service, which answered 503'],
  ])('after %s names what is waited for', (status, reason) => {
    const { stderr, after } = seen([{ status, willRetryInMs: 4_200 }]);
    expect(stderr).toBe(`${CLEAR}waiting for ${reason}; next attempt in 5 s`);
    expect(after).toBe(stderr + CLEAR);
  });

  it.each([
    [{}, { progress: false }],
    [{}, { accessible: true }],
    [{ TERM: 'dumb' }, {}],
  ])('is one line that stays with %j and %j', (env, flags) => {
    const surroundings = { terminal: { stderr: true }, env };
    const { stderr, after } = seen([{ willRetryInMs: 4_200 }], surroundings, { color: false, ...flags });
    expect(stderr).toBe('waiting for the service, which does not answer; next attempt in 5 s\n');
    expect(after).toBe(stderr);
  });

  it('counts down, and is gone with the next attempt', () =>
    withFakeTime(() => {
      const { io, printed } = fakeIo({ terminal: { stderr: true } });
      const { onAttempt } = observe(readSettings({}, io), io);
      onAttempt?.({ ...attempt, willRetryInMs: 2_000 });
      vi.advanceTimersByTime(1_000);
      expect(printed.stderr).toContain(
        `in 2 s${CLEAR}waiting for the service, which does not answer; next attempt in 1 s`,
      );
      onAttempt?.({ ...attempt, status: 200 });
      const { length } = printed.stderr;
      expect(printed.stderr.endsWith(CLEAR)).toBe(true);
      vi.advanceTimersByTime(5_000);
      expect(printed.stderr).toHaveLength(length);
    }));

  it('is not said where nobody reads it, or when it is over before it can be read', () => {
    const long = [{ willRetryInMs: 9_000 }];
    expect(seen(long, { terminal: false }).after).toBe('');
    expect(seen(long, {}, { quiet: true }).after).toBe('');
    expect(seen(long, {}, { format: 'json' }).after).toBe('');
    expect(seen([{ willRetryInMs: 200 }]).after).toBe('');
  });

  it('fits a narrow terminal', () => {
    const { stderr } = seen([{ willRetryInMs: 9_000 }], { columns: 30 });
    expect(stderr.replace(CLEAR, '')).toHaveLength(29);
  });
});

it('a request without an answer is said after two seconds at a terminal, and gone with the answer', () => {
  const silent = (isTerminal: boolean, ms: number) =>
    withFakeTime(() => {
      const { io, printed } = fakeIo({ terminal: { stderr: isTerminal } });
      const { onSend, onAttempt } = observe(readSettings({}, io), io);
      onSend?.('GET /key');
      vi.advanceTimersByTime(ms);
      onAttempt?.({ ...attempt, status: 200 });
      return printed.stderr;
    });
  const said = (seconds: number) => `${CLEAR}waiting for an answer, for ${seconds} s now`;
  expect(silent(true, 1_999)).toBe('');
  expect(silent(true, 3_000)).toBe(`${said(2)}${said(3)}${CLEAR}`);
  expect(silent(false, 9_000)).toBe('');
});

it('a refused connection on this machine is told at once at a terminal, and after the usual time elsewhere', async () => {
  const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const waitsFor = async (baseUrl: string, terminal: boolean) => {
    const { io } = fakeIo({ terminal });
    const waits: number[] = [];
    const timing = { now: () => waits.reduce((sum, ms) => sum + ms, 0), random: () => 0.5, newKey: () => 'k' };
    const connection = await openConnection({ kind: 'remote', baseUrl } as Target, {
      flags: {},
      io: { ...io, fetch: () => Promise.reject(REFUSED) },
      needsToken: false,
    });
    const slept = { ...io, timing: { ...timing, sleep: async (ms: number) => void waits.push(ms) } };
    const client = await openClient(connection, {}, readSettings({}, io), slept);
    await expect(client.signingKeys.jwks()).rejects.toMatchObject({ sent: false });
    return timing.now();
  };
  expect(await waitsFor('http://127.0.0.1:9', true)).toBeLessThan(1_000);
  expect(await waitsFor('http://127.0.0.1:9', false)).toBe(30_000);
  expect(await waitsFor('https://lkm.example', true)).toBe(30_000);
});

it('a replayed response is known from the last attempt', () => {
  expect(seen([{}, { status: 200, replayed: true }]).replayed).toBe(true);
  expect(seen([{ status: 200, replayed: true }, { status: 200 }]).replayed).toBe(false);
});
