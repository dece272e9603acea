import { expect, test } from 'vitest';
import { type AttemptEvent, NetworkError } from '../../src/index.ts';
import { issued, licenseKey, productId } from './examples.ts';
import {
  type Answer,
  cutOff,
  json,
  refusal,
  reset,
  scriptedClient,
  scriptedService,
  text,
} from './scripted-service.ts';

const { script } = scriptedService();

test.each<[string, readonly Answer[], readonly number[]]>([
  ['a reset', [reset], [125]],
  ['a body that ends early', [cutOff], [125]],
  ['a 500', [refusal(500, 1)], [125]],
  ['a 502 that is a page', [text('<h1>Bad Gateway</h1>', 502)], [125]],
  ['a 503 that says when', [refusal(503, 1, { 'retry-after': '2' })], [2_000]],
  ['a 429 with a date', [refusal(429, 3, { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' })], [30_000]],
  ['a request in progress', [refusal(409, 3, { 'retry-after': '1' })], [1_000]],
  ['four failures in a row', [reset, refusal(500, 1), reset, refusal(504, 1)], [125, 250, 500, 1_000]],
])('outlasts %s, with the same key and the same bytes', async (_title, failures, expectedWaits) => {
  const seen = script(...failures, json(issued));
  const { client, waits } = scriptedClient();
  expect(await client.keys.create({ productId, usesPerKey: 5 })).toEqual({ key: licenseKey });
  expect(waits).toEqual(expectedWaits);
  const sent = seen.map(({ line, headers, body }) => ({ line, headers: [...headers], body }));
  expect(sent).toEqual(sent.map(() => sent[0]));
  expect(sent).toHaveLength(failures.length + 1);
});

test('repeats reads too', async () => {
  const seen = script(reset, json({ action: 'customers.list', status: true, data: [], code: 0 }));
  expect(await scriptedClient().client.customers.list()).toEqual({ items: [] });
  expect(seen).toHaveLength(2);
});

test('gives up after the last attempt with what the network said', async () => {
  script(reset);
  const error = await scriptedClient()
    .client.keys.create({ productId })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NetworkError);
  expect(error).toMatchObject({
    message: 'no answer from service.example after 5 attempts',
    call: { operation: 'POST /create-key', idempotencyKey: 'key-1', attempts: 5 },
    sent: true,
    timedOut: false,
    cause: expect.any(TypeError),
  });
});

test('gives up with the last refusal and the number of attempts', async () => {
  script(refusal(503, 1, { 'retry-after': '1' }));
  const { client, waits } = scriptedClient({ maxRetries: 2 });
  const failed = client.keys.create({ productId });
  await expect(failed).rejects.toMatchObject({ name: 'ApiError', reason: 'unavailable', call: { attempts: 3 } });
  expect(waits).toEqual([1_000, 1_000]);
});

test('does not wait longer than it may', async () => {
  script(refusal(429, 3, { 'retry-after': '61' }));
  const { client, waits } = scriptedClient();
  await expect(client.customers.list()).rejects.toMatchObject({ reason: 'rateLimited', call: { attempts: 1 } });
  expect(waits).toEqual([]);
});

test('waits for a request in progress beyond the number of retries, up to the time allowed', async () => {
  script(refusal(409, 3, { 'retry-after': '1' }));
  const { client, waits } = scriptedClient({ maxRetries: 0, maxWaitMs: 10_000 });
  const failed = client.keys.create({ productId });
  await expect(failed).rejects.toMatchObject({ status: 409, code: 3, call: { attempts: 11 } });
  expect(waits).toEqual(Array(10).fill(1_000));
});

test('sends a refused request once', async () => {
  const seen = script(refusal(404, 1));
  await expect(scriptedClient().client.keys.create({ productId })).rejects.toMatchObject({ status: 404 });
  expect(seen).toHaveLength(1);
});

test('reports each attempt, and nothing secret', async () => {
  script(reset, refusal(429, 3, { 'retry-after': '1' }), json(issued));
  const attempts: AttemptEvent[] = [];
  const { client } = scriptedClient({ onAttempt: (attempt) => attempts.push(attempt) });
  await client.keys.create({ productId });
  const always = { operation: 'POST /create-key', idempotencyKey: 'key-1', durationMs: 0, replayed: false };
  expect(attempts).toEqual([
    { ...always, attempt: 1, status: null, willRetryInMs: 125 },
    { ...always, attempt: 2, status: 429, willRetryInMs: 1_000 },
    { ...always, attempt: 3, status: 200, willRetryInMs: null },
  ]);
});

test('says that the service repeated its stored response', async () => {
  script(reset, json(issued, 200, { 'idempotency-replayed': 'true' }));
  const attempts: AttemptEvent[] = [];
  const { client } = scriptedClient({ onAttempt: (attempt) => attempts.push(attempt) });
  await client.keys.create({ productId });
  expect(attempts.map(({ replayed }) => replayed)).toEqual([false, true]);
});

test('an error says how long the service asks to wait, or that it does not say', async () => {
  script(refusal(429, 3, { 'retry-after': '3600' }), refusal(404, 1));
  const { client } = scriptedClient();
  await expect(client.keys.create({ productId })).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
  await expect(client.keys.create({ productId })).rejects.toMatchObject({ status: 404, retryAfterMs: null });
});
