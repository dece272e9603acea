import { expect, test } from 'vitest';
import type { AttemptEvent } from '../../src/index.ts';
import { issued, licenseKey, productId } from './examples.ts';
import { type Answer, cutOff, json, refusal, reset, scriptedClient, scriptedService } from './scripted-service.ts';

const { script } = scriptedService();

test.each<[string, readonly Answer[], readonly number[]]>([
  ['a body that ends early', [cutOff], [125]],
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
  await expect(scriptedClient().client.keys.create({ productId })).rejects.toMatchObject({
    name: 'NetworkError',
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

test('reports each attempt, and nothing secret', async () => {
  const replayed = json(issued, 200, { 'idempotency-replayed': 'true' });
  script(reset, refusal(429, 3, { 'retry-after': '1' }), replayed);
  const attempts: AttemptEvent[] = [];
  const { client } = scriptedClient({ onAttempt: (attempt) => attempts.push(attempt) });
  await client.keys.create({ productId });
  const always = { operation: 'POST /create-key', idempotencyKey: 'key-1', durationMs: 0, replayed: false };
  expect(attempts).toEqual([
    { ...always, attempt: 1, status: null, willRetryInMs: 125 },
    { ...always, attempt: 2, status: 429, willRetryInMs: 1_000 },
    { ...always, attempt: 3, status: 200, willRetryInMs: null, replayed: true },
  ]);
});
