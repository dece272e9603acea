import { expect, it } from 'vitest';
import { createClient, NetworkError } from '../../src/index.ts';

const callWith = async (thrown: unknown) => {
  let attempts = 0;
  const client = createClient({
    baseUrl: 'https://licensing.example.com',
    token: 'lkm_test',
    maxRetries: 0,
    fetch: () => {
      attempts += 1;
      return Promise.reject(thrown);
    },
  });
  const error: unknown = await client.customers.list().catch((caught: unknown) => caught);
  return { error, attempts };
};

it.each([
  new TypeError('Promise.withResolvers is not a function'),
  new ReferenceError('WebSocket is not defined'),
  new RangeError('Maximum call stack size exceeded'),
])('throws a fault of the program as it is, after one attempt: %s', async (fault) => {
  const { error, attempts } = await callWith(fault);
  expect(error).toBe(fault);
  expect(attempts).toBe(1);
});

it.each([
  new TypeError('fetch failed', { cause: Object.assign(new Error('gone'), { code: 'ECONNRESET' }) }),
  new TypeError('Failed to fetch'),
  new TypeError('NetworkError when attempting to fetch resource.'),
  new TypeError('Load failed'),
  new TypeError('terminated'),
  Object.assign(new Error('reset'), { code: 'UND_ERR_SOCKET' }),
])('calls a failure of the network what it is: %s', async (failure) => {
  expect((await callWith(failure)).error).toBeInstanceOf(NetworkError);
});
