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

type Heartbeat = SessionClient['keys']['heartbeat'];

/** A service whose leases last 15 minutes, with heartbeats every 5, and what it was asked when. */
function service({
  heartbeat,
  checkin,
  aheadMs = 0,
  intervalSeconds = 300,
}: {
  readonly heartbeat?: (attempt: number) => Promise<void> | void;
  readonly checkin?: () => Promise<void>;
  /** How far its clock is ahead of the client's. */
  readonly aheadMs?: number;
  readonly intervalSeconds?: number;
} = {}) {
  const timing = manualTiming();
  const requests: string[] = [];
  const keys: (string | undefined)[] = [];
  const minute = () => (timing.now() - noon) / MINUTE;
  const expiresAt = () => new Date(timing.now() + aheadMs + 15 * MINUTE).toISOString() as never;
  let beats = 0;
  const client: SessionClient = {
    keys: {
      checkout: async () => {
        requests.push(`${minute()} checkout`);
        return {
          message: 'Session checked out',
          sessionId: 'ses_1',
          sessionSecret: 'secret',
          nextNonce: 'nonce-0',
          expiresAt: expiresAt(),
          heartbeatInterval: intervalSeconds,
          currentSessions: 1,
          maxSessions: 2,
        };
      },
      heartbeat: (async ({ timestamp }, { idempotencyKey, signal } = {}) => {
        requests.push(`${minute()} heartbeat ${timestamp}`);
        keys.push(idempotencyKey);
        const ended = new Promise<never>((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
        });
        await Promise.race([heartbeat?.(keys.length), ended]);
        beats += 1;
        return { message: 'Session prolonged', expiresAt: expiresAt(), nextNonce: `nonce-${beats}` };
      }) satisfies Heartbeat,
      checkin: async ({ timestamp }) => {
        requests.push(`${minute()} checkin ${timestamp}`);
        await checkin?.();
        return { message: 'Session checked in' };
      },
    },
  };
  const work = Promise.withResolvers<string>();
  let signal: AbortSignal | undefined;
  const run = (options: SessionOptions = {}) => {
    const ran = withSession(
      client,
      input,
      (session) => {
        signal = session.signal;
        return work.promise;
      },
      { timing, ...options },
    );
    // Looked at later.
    ran.catch(() => {});
    return ran;
  };
  return { timing, requests, keys, client, work, run, lostBy: () => signal?.reason as unknown };
}

describe('a session', () => {
  test('is leased, kept alive while the work runs, and given back', async () => {
    const { timing, requests, keys, work, run, lostBy } = service();
    const ran = run();
    await timing.pass(12 * MINUTE);
    work.resolve('done');
    expect(await ran).toBe('done');
    expect(requests).toEqual(['0 checkout', '5 heartbeat nonce-0', '10 heartbeat nonce-1', '12 checkin nonce-2']);
    expect(new Set(keys).size).toBe(2);
    expect(lostBy()).toBeUndefined();
  });

  test('tells the work what it has', async () => {
    const { client, timing } = service();
    const seen = await withSession(
      client,
      input,
      ({ signal, ...session }) => ({ ...session, aborted: signal.aborted }),
      {
        timing,
      },
    );
    expect(seen).toEqual({ sessionId: 'ses_1', currentSessions: 1, maxSessions: 2, aborted: false });
  });

  test('sends no heartbeat after the work', async () => {
    const { timing, requests, work, run } = service();
    const ran = run();
    work.resolve('done');
    await ran;
    await timing.pass(60 * MINUTE);
    expect(requests).toEqual(['0 checkout', '0 checkin nonce-0']);
  });

  test('is given back when the work fails, whose error is passed on', async () => {
    const failed: unknown[] = [];
    const { requests, work, run } = service({
      checkin: async () => {
        throw unreachable();
      },
    });
    const ran = run({ onReturnFailed: (error) => failed.push(error) });
    work.reject(new Error('of the work'));
    await expect(ran).rejects.toThrow('of the work');
    expect(requests).toEqual(['0 checkout', '0 checkin nonce-0']);
    expect(failed).toEqual([expect.any(NetworkError)]);
  });

  test('that cannot be given back keeps the result of the work', async () => {
    const { work, run } = service({
      checkin: async () => {
        throw unreachable();
      },
    });
    const ran = run();
    work.resolve('done');
    expect(await ran).toBe('done');
  });

  test('keeps the result of the work when the one who is told of it throws', async () => {
    const { work, run } = service({
      checkin: async () => {
        throw unreachable();
      },
    });
    const ran = run({
      onReturnFailed: () => {
        throw new Error('of the callback');
      },
    });
    work.resolve('done');
    expect(await ran).toBe('done');
  });

  test('that has ended by itself counts as given back', async () => {
    const failed: unknown[] = [];
    const { work, run } = service({
      checkin: async () => {
        throw apiError('sessionNotFound');
      },
    });
    const ran = run({ onReturnFailed: (error) => failed.push(error) });
    work.resolve('done');
    await ran;
    expect(failed).toEqual([]);
  });

  test('that is refused does not begin the work', async () => {
    const { client, timing } = service();
    const refusing = { keys: { ...client.keys, checkout: () => Promise.reject(apiError('sessionLimit')) } };
    let began = false;
    const ran = withSession(
      refusing,
      input,
      () => {
        began = true;
      },
      { timing },
    );
    await expect(ran).rejects.toMatchObject({ reason: 'sessionLimit' });
    expect(began).toBe(false);
  });

  test('is prolonged in time where the interval is as long as the lease', async () => {
    const { timing, requests, work, run } = service({ intervalSeconds: 900 });
    const ran = run();
    await timing.pass(8 * MINUTE);
    work.resolve('done');
    await ran;
    expect(requests).toEqual(['0 checkout', '7.5 heartbeat nonce-0', '8 checkin nonce-1']);
  });

  test('is not given up where the clock of the service is far behind', async () => {
    const { timing, work, run, lostBy } = service({ aheadMs: -60 * MINUTE });
    const ran = run();
    await timing.pass(30 * MINUTE);
    expect(lostBy()).toBeUndefined();
    work.resolve('done');
    expect(await ran).toBe('done');
  });

  test('ends with the signal of the caller, and is given back all the same', async () => {
    const { timing, requests, work, run, lostBy } = service();
    const controller = new AbortController();
    const ran = run({ signal: controller.signal });
    await timing.pass(MINUTE);
    controller.abort('enough');
    expect(lostBy()).toBe('enough');
    work.reject(lostBy());
    await expect(ran).rejects.toBe('enough');
    expect(requests).toEqual(['0 checkout', '1 checkin nonce-0']);
  });
});

describe('a heartbeat', () => {
  test('without an answer is repeated as the same request, and the lease goes on', async () => {
    const { timing, requests, keys, work, run, lostBy } = service({
      heartbeat: async (attempt) => {
        if (attempt < 3) throw unreachable();
      },
    });
    const ran = run();
    await timing.pass(6 * MINUTE);
    expect(lostBy()).toBeUndefined();
    work.resolve('done');
    await ran;
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    expect(requests.map((request) => request.split(' ').slice(1).join(' '))).toEqual([
      'checkout',
      'heartbeat nonce-0',
      'heartbeat nonce-0',
      'heartbeat nonce-0',
      'checkin nonce-1',
    ]);
  });

  test('that gets no answer until the lease ends loses it', async () => {
    const { timing, requests, work, run, lostBy } = service({
      heartbeat: async () => {
        throw unreachable();
      },
    });
    const ran = run();
    await timing.pass(15 * MINUTE - 1);
    expect(lostBy()).toBeUndefined();
    await timing.pass(1);
    expect(lostBy()).toBeInstanceOf(SessionLostError);
    work.reject(lostBy());
    await expect(ran).rejects.toMatchObject({ cause: expect.any(NetworkError) });
    expect(requests.at(-1)).toMatch(/^15 heartbeat/);
  });

  test('that hangs is ended with the lease', async () => {
    const { timing, work, run, lostBy } = service({ heartbeat: () => new Promise(() => {}) });
    const ran = run();
    await timing.pass(15 * MINUTE);
    expect(lostBy()).toBeInstanceOf(SessionLostError);
    work.resolve('all the same');
    expect(await ran).toBe('all the same');
  });

  test.each(['licenseDisabled', 'signatureRefused', 'invalidToken'] as const)(
    'that is refused with %s loses the lease at once, and the seat is given back',
    async (reason) => {
      const { timing, requests, work, run, lostBy } = service({
        heartbeat: async () => {
          throw apiError(reason);
        },
      });
      const ran = run();
      await timing.pass(5 * MINUTE);
      expect(lostBy()).toMatchObject({ name: 'SessionLostError', cause: { reason } });
      work.resolve('done');
      await ran;
      expect(requests).toEqual(['0 checkout', '5 heartbeat nonce-0', '5 checkin nonce-0']);
    },
  );

  test('of a session that has ended loses it, and there is nothing to give back', async () => {
    const { timing, requests, work, run, lostBy } = service({
      heartbeat: async () => {
        throw apiError('sessionNotFound');
      },
    });
    const ran = run();
    await timing.pass(5 * MINUTE);
    expect(lostBy()).toMatchObject({ cause: { reason: 'sessionNotFound' } });
    work.resolve('done');
    await ran;
    expect(requests).toEqual(['0 checkout', '5 heartbeat nonce-0']);
  });

  test.each(['serverError', 'unavailable', 'rateLimited', 'requestInProgress'] as const)(
    'that is answered with %s is repeated',
    async (reason) => {
      const { timing, work, run, lostBy } = service({
        heartbeat: async (attempt) => {
          if (attempt === 1) throw apiError(reason);
        },
      });
      const ran = run();
      await timing.pass(14 * MINUTE);
      expect(lostBy()).toBeUndefined();
      work.resolve('done');
      expect(await ran).toBe('done');
    },
  );
});
