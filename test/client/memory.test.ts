import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { sendOnce } from '../../src/client/attempt.ts';

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
};

it('many calls under one signal leave nothing of themselves behind', async () => {
  const { signal } = new AbortController();
  const seen: WeakRef<AbortSignal>[] = [];
  const request: Parameters<typeof sendOnce>[1] = {
    url: 'https://licensing.example.com/key',
    method: 'GET',
    headers: {},
    body: null,
  };
  for (let call = 0; call < 100; call++) {
    await sendOnce(
      async (_, end) => {
        seen.push(new WeakRef(end));
        return { status: 200, headers: new Headers(), body: null };
      },
      request,
      { timeoutMs: 1_000, maxBytes: 1_000, signal },
      { call: { operation: 'GET /key', idempotencyKey: null, attempts: 1 }, host: 'licensing.example.com' },
    );
  }
  await turn();
  collectGarbage();
  expect(seen.filter((end) => end.deref() !== undefined).length).toBeLessThan(10);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
