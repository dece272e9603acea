import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ClientOptions, createClient, NetworkError } from '../../src/index.ts';
import { issued, licenseKey, productId } from './examples.ts';
import { fakeTiming } from './fake-timing.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const answered = async () => Response.json(issued);
const neverAnswered = () => new Promise<Response>(() => {});
/** Its head comes at once, its body never ends. */
const neverEnded = async () => new Response(new ReadableStream());

const connect = (options: Partial<ClientOptions>) =>
  createClient({ baseUrl: 'https://service.example', maxRetries: 0, timing: fakeTiming(), ...options });

test.each([
  ['no answer comes', neverAnswered],
  ['the answer does not end', neverEnded],
])('ends an attempt in which %s, even if the fetch does not heed the signal', async (_title, fetch) => {
  const failed = connect({ fetch }).keys.create({ productId });
  const caught = failed.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(30_000);
  const error = await caught;
  expect(error).toBeInstanceOf(NetworkError);
  expect(error).toMatchObject({ timedOut: true, sent: true, cause: { name: 'TimeoutError' } });
});

test('gives each attempt its own time', async () => {
  const slow = vi.fn().mockImplementationOnce(neverAnswered).mockImplementation(answered);
  const created = connect({ fetch: slow, timeoutMs: 1_000, maxRetries: 1 }).keys.create({ productId });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await created).toEqual({ key: licenseKey });
});

test('makes as many retries as it is told to, however long each attempt takes', async () => {
  const hanging = vi.fn(neverAnswered);
  const timing = { ...fakeTiming(), now: () => Date.now() };
  const failed = connect({ fetch: hanging, maxRetries: 2, timing }).keys.create({ productId });
  const caught = failed.catch((error: unknown) => error);
  vi.setSystemTime(0);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await vi.advanceTimersByTimeAsync(30_000);
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(await caught).toMatchObject({ name: 'NetworkError', call: { attempts: 3 } });
  expect(hanging).toHaveBeenCalledTimes(3);
});

test('tells the fetch that the time is over, and leaves no timer behind', async () => {
  const fetch = vi.fn<(request: Request) => Promise<Response>>(neverAnswered);
  const failed = connect({ fetch }).customers.list();
  failed.catch(() => {});
  await vi.advanceTimersByTimeAsync(30_000);
  await expect(failed).rejects.toThrow(NetworkError);
  expect(fetch.mock.calls[0]?.[0].signal.aborted).toBe(true);
  await connect({ fetch: answered }).keys.create({ productId });
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that was given up before it began sends nothing', async () => {
  const fetch = vi.fn(answered);
  const signal = AbortSignal.abort('stop');
  await expect(connect({ fetch }).keys.create({ productId }, { signal })).rejects.toBe('stop');
  expect(fetch).not.toHaveBeenCalled();
});

test('a call that is given up under way rejects with the signal’s reason, and is not repeated', async () => {
  const fetch = vi.fn(neverAnswered);
  const controller = new AbortController();
  const failed = connect({ fetch, maxRetries: 4 }).keys.create({ productId }, { signal: controller.signal });
  await vi.advanceTimersByTimeAsync(1);
  controller.abort('stop');
  await expect(failed).rejects.toBe('stop');
  expect(fetch).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that is given up between two attempts is not repeated', async () => {
  const fetch = vi.fn(async () => Response.json({ message: 'no', code: 1 }, { status: 500 }));
  const controller = new AbortController();
  const sleep = async () => controller.abort('stop');
  const client = connect({ fetch, maxRetries: 4, timing: { ...fakeTiming(), sleep } });
  await expect(client.keys.create({ productId }, { signal: controller.signal })).rejects.toBe('stop');
  expect(fetch).toHaveBeenCalledTimes(1);
});
