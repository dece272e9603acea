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
    ['--no-progress', {}, { progress: false }],
    ['LKM_NO_PROGRESS', { LKM_NO_PROGRESS: '1' }, {}],
    ['TERM=dumb', { TERM: 'dumb' }, {}],
  ])('is one line that stays with %s', (_, env, flags) => {
    const { stderr, after } = seen(
      [{ willRetryInMs: 4_200 }],
      { terminal: { stderr: true }, env },
      { color: false, ...flags },
    );
    expect(stderr).toBe('waiting for the service, which does not answer; next attempt in 5 s\n');
    expect(after).toBe(stderr);
  });

  it('counts down, and is gone with the next attempt', () => {
    vi.useFakeTimers();
    try {
      const { io, printed } = fakeIo({ terminal: { stderr: true } });
      const { onAttempt } = observe(readSettings({}, io), io);
      onAttempt?.({ ...attempt, willRetryInMs: 2_000 });
      vi.advanceTimersByTime(1_000);
      expect(printed.stderr).toContain(
        'in 2 s\r\u001b[Kwaiting for the service, which does not answer; next attempt in 1 s',
      );
      onAttempt?.({ ...attempt, status: 200 });
      const { length } = printed.stderr;
      expect(printed.stderr.endsWith(CLEAR)).toBe(true);
      vi.advanceTimersByTime(5_000);
      expect(printed.stderr).toHaveLength(length);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each<[when: string, surroundings: Surroundings, flags: object]>([
    ['where stderr is not a terminal', { terminal: false }, {}],
    ['with -q', {}, { quiet: true }],
    ['with --json', {}, { json: true }],
  ])('is not said %s', (_, surroundings, flags) => {
    expect(seen([{ willRetryInMs: 9_000 }], surroundings, flags).after).toBe('');
  });

  it('is not said when it is over before it can be read', () => {
    expect(seen([{ willRetryInMs: 200 }]).after).toBe('');
  });

  it('fits a narrow terminal', () => {
    const { stderr } = seen([{ willRetryInMs: 9_000 }], { columns: 30 });
    expect(stderr.replace(CLEAR, '')).toHaveLength(29);
  });
});

describe('a request without an answer', () => {
  const silent = (surroundings: Surroundings, ms: number) => {
    vi.useFakeTimers();
    try {
      const { io, printed } = fakeIo(surroundings);
      const { onSend, onAttempt } = observe(readSettings({}, io), io);
      onSend?.('GET /key');
      vi.advanceTimersByTime(ms);
      const { stderr } = printed;
      onAttempt?.({ ...attempt, status: 200 });
      return { stderr, after: printed.stderr.slice(stderr.length) };
    } finally {
      vi.useRealTimers();
    }
  };
  const terminal = { terminal: { stderr: true } };

  it('is said after two seconds, with how long it takes, and gone with the answer', () => {
    expect(silent(terminal, 1_999)).toEqual({ stderr: '', after: '' });
    expect(silent(terminal, 3_000)).toEqual({
      stderr: `${CLEAR}waiting for an answer, for 2 s now${CLEAR}waiting for an answer, for 3 s now`,
      after: CLEAR,
    });
  });

  it('is not said where stderr is not a terminal', () => {
    expect(silent({ terminal: false }, 9_000)).toEqual({ stderr: '', after: '' });
  });
});

describe('a refused connection', () => {
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

  it('on this machine is told within a second at a terminal, and after the usual time elsewhere', async () => {
    expect(await waitsFor('http://127.0.0.1:9', true)).toBeLessThan(1_000);
    expect(await waitsFor('http://127.0.0.1:9', false)).toBe(30_000);
    expect(await waitsFor('https://lkm.example', true)).toBe(30_000);
  });
});

describe('a replayed response', () => {
  it('is known from the last attempt', () => {
    const { replayed } = seen([{}, { status: 200, ...{ replayed: true } }]);
    expect(replayed).toBe(true);
    expect(seen([{ status: 200, ...{ replayed: true } }, { status: 200 }]).replayed).toBe(false);
  });
});
