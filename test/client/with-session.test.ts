import { describe, expect, test } from 'vitest';
import { apiError } from '../../src/contract/errors.ts';
import {
  NetworkError,
  type SessionClient,
  SessionLostError,
  type SessionOptions,
  withSession,
} from '../../src/index.ts';
import { noon } from './fake-timing.ts';
import { manualTiming } from './manual-timing.ts';

const MINUTE = 60_000;
const input = { productId: 'prod_0000000000000000000001', licenseKey: '7KQ2M-X9D4R-HTB31-0WVJ6-85SB5' };
const call = { operation: 'POST /key/heartbeat', idempotencyKey: null, attempts: 1 };
const unreachable = () => new NetworkError('no answer', { call, sent: true, timedOut: false });
const fail = (error: unknown) => async (): Promise<never> => {
  throw error;
};

interface Behaviour {
  readonly checkout?: () => Promise<void>;
  readonly heartbeat?: (attempt: number) => Promise<void>;
  readonly checkin?: () => Promise<void>;
  /** How far its clock is ahead of the client's. */
  readonly aheadMs?: number;
  readonly intervalSeconds?: number;
}

/** Runs a session of a service whose leases last 15 minutes, with heartbeats every 5; tells what it was asked when. */
function startSession(behaviour: Behaviour = {}, options: SessionOptions = {}) {
  const { aheadMs = 0, intervalSeconds = 300 } = behaviour;
  const timing = manualTiming();
  const requests: string[] = [];
  const keys: (string | undefined)[] = [];
  const note = (what: string) => requests.push(`${(timing.now() - noon) / MINUTE} ${what}`);
  const expiresAt = () => new Date(timing.now() + aheadMs + 15 * MINUTE).toISOString() as never;
  let beats = 0;
  const operations: SessionClient['keys'] = {
    checkout: async () => {
      note('checkout');
      await behaviour.checkout?.();
      const secrets = { sessionId: 'ses_1', sessionSecret: 'secret', nextNonce: 'nonce-0' };
      const seats = { currentSessions: 1, maxSessions: 2 };
      return { message: '', ...secrets, ...seats, expiresAt: expiresAt(), heartbeatInterval: intervalSeconds };
    },
    heartbeat: async ({ timestamp }, { idempotencyKey, signal } = {}) => {
      note(`heartbeat ${timestamp}`);
      keys.push(idempotencyKey);
      const ended = Promise.withResolvers<never>();
      signal?.addEventListener('abort', () => ended.reject(signal.reason));
      await Promise.race([behaviour.heartbeat?.(keys.length), ended.promise]);
      beats += 1;
      return { message: '', expiresAt: expiresAt(), nextNonce: `nonce-${beats}` };
    },
    checkin: async ({ timestamp }) => {
      note(`checkin ${timestamp}`);
      await behaviour.checkin?.();
      return { message: '' };
    },
  };
  const work = Promise.withResolvers<string>();
  const seen: Parameters<Parameters<typeof withSession>[2]>[0][] = [];
  const begin = (session: (typeof seen)[number]) => {
    seen.push(session);
    return work.promise;
  };
  const ran = withSession({ keys: operations }, input, begin, { timing, ...options });
  // Looked at later.
  ran.catch(() => {});
  return { ran, timing, requests, keys, work, seen, lostBy: () => seen[0]?.signal.reason as unknown };
}

describe('a session', () => {
  test('is leased, kept alive while the work runs, and given back', async () => {
    const { ran, timing, requests, keys, work, seen, lostBy } = startSession();
    await timing.pass(12 * MINUTE);
    expect(seen).toMatchObject([
      { sessionId: 'ses_1', currentSessions: 1, maxSessions: 2, signal: { aborted: false } },
    ]);
    work.resolve('done');
    expect(await ran).toBe('done');
    await timing.pass(60 * MINUTE);
    expect(requests).toEqual(['0 checkout', '5 heartbeat nonce-0', '10 heartbeat nonce-1', '12 checkin nonce-2']);
    expect(new Set(keys).size).toBe(2);
    expect(lostBy()).toBeUndefined();
  });

  test('is given back when the work fails, whose error is passed on', async () => {
    const failed: unknown[] = [];
    const onReturnFailed = (error: unknown) => failed.push(error);
    const { ran, requests, work } = startSession({ checkin: fail(unreachable()) }, { onReturnFailed });
    work.reject(new Error('of the work'));
    await expect(ran).rejects.toThrow('of the work');
    expect(requests).toEqual(['0 checkout', '0 checkin nonce-0']);
    expect(failed).toEqual([expect.any(NetworkError)]);
  });

  test('keeps the result of the work when it cannot be given back, and when the one who is told of it throws', async () => {
    const onReturnFailed = () => {
      throw new Error('of the callback');
    };
    for (const options of [{}, { onReturnFailed }]) {
      const { ran, work } = startSession({ checkin: fail(unreachable()) }, options);
      work.resolve('done');
      expect(await ran).toBe('done');
    }
  });

  test('that has ended by itself counts as given back', async () => {
    const failed: unknown[] = [];
    const onReturnFailed = (error: unknown) => failed.push(error);
    const { ran, work } = startSession({ checkin: fail(apiError('sessionNotFound')) }, { onReturnFailed });
    work.resolve('done');
    await ran;
    expect(failed).toEqual([]);
  });

  test('that is refused does not begin the work', async () => {
    const { ran, seen } = startSession({ checkout: fail(apiError('sessionLimit')) });
    await expect(ran).rejects.toMatchObject({ reason: 'sessionLimit' });
    expect(seen).toEqual([]);
  });

  test('is prolonged in time where the interval is as long as the lease', async () => {
    const { ran, timing, requests, work } = startSession({ intervalSeconds: 900 });
    await timing.pass(8 * MINUTE);
    work.resolve('done');
    await ran;
    expect(requests).toEqual(['0 checkout', '7.5 heartbeat nonce-0', '8 checkin nonce-1']);
  });

  test('is not given up where the clock of the service is far behind', async () => {
    const { ran, timing, work, lostBy } = startSession({ aheadMs: -60 * MINUTE });
    await timing.pass(30 * MINUTE);
    expect(lostBy()).toBeUndefined();
    work.resolve('done');
    expect(await ran).toBe('done');
  });

  test('ends with the signal of the caller, and is given back all the same', async () => {
    const controller = new AbortController();
    const { ran, timing, requests, work, lostBy } = startSession({}, { signal: controller.signal });
    await timing.pass(MINUTE);
    controller.abort('enough');
    expect(lostBy()).toBe('enough');
    work.reject(lostBy());
    await expect(ran).rejects.toBe('enough');
    expect(requests).toEqual(['0 checkout', '1 checkin nonce-0']);
  });
});

describe('a heartbeat', () => {
  test.each([
    unreachable(),
    ...(['serverError', 'unavailable', 'rateLimited', 'requestInProgress'] as const).map((reason) => apiError(reason)),
  ])('without an answer, or with %s, is repeated as the same request, and the lease goes on', async (error) => {
    const heartbeat = async (attempt: number) => {
      if (attempt < 3) throw error;
    };
    const { ran, timing, requests, keys, work, lostBy } = startSession({ heartbeat });
    await timing.pass(6 * MINUTE);
    expect(lostBy()).toBeUndefined();
    work.resolve('done');
    await ran;
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    const [first, ...more] = requests.map((request) => request.replace(/^\S+ /, ''));
    expect([first, ...more]).toEqual(['checkout', ...Array(3).fill('heartbeat nonce-0'), 'checkin nonce-1']);
  });

  test('that gets no answer until the lease ends loses it', async () => {
    const { ran, timing, requests, work, lostBy } = startSession({ heartbeat: fail(unreachable()) });
    await timing.pass(15 * MINUTE - 1);
    expect(lostBy()).toBeUndefined();
    await timing.pass(1);
    expect(lostBy()).toBeInstanceOf(SessionLostError);
    work.reject(lostBy());
    await expect(ran).rejects.toMatchObject({ cause: expect.any(NetworkError) });
    expect(requests.at(-1)).toMatch(/^15 heartbeat/);
  });

  test('that hangs is ended with the lease', async () => {
    const { ran, timing, work, lostBy } = startSession({ heartbeat: () => new Promise(() => {}) });
    await timing.pass(15 * MINUTE);
    expect(lostBy()).toBeInstanceOf(SessionLostError);
    work.resolve('all the same');
    expect(await ran).toBe('all the same');
  });

  test.each([
    ['licenseDisabled', ['5 checkin nonce-0']],
    ['signatureRefused', ['5 checkin nonce-0']],
    ['invalidToken', ['5 checkin nonce-0']],
    ['sessionNotFound', []],
  ] as const)('that is refused with %s loses the lease at once, and is followed by %j', async (reason, checkin) => {
    const { ran, timing, requests, work, lostBy } = startSession({ heartbeat: fail(apiError(reason)) });
    await timing.pass(5 * MINUTE);
    expect(lostBy()).toMatchObject({ name: 'SessionLostError', cause: { reason } });
    work.resolve('done');
    await ran;
    expect(requests).toEqual(['0 checkout', '5 heartbeat nonce-0', ...checkin]);
  });
});
