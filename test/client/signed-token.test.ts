import { expect, test } from 'vitest';
import { type Answer, json, scriptedClient, scriptedService, text } from './scripted-service.ts';

const { script } = scriptedService();

const list = 'eyJhbGciOiJFZERTQSJ9.eyJzZXEiOjF9.c2lnbmF0dXJl';
const asJwt = { 'content-type': 'application/jwt' };

const exportList = (...answers: readonly Answer[]) => {
  const seen = script(...answers);
  const exported = scriptedClient({ maxRetries: 0 }).client.revocations.export();
  return { exported, seen };
};

test('a reply that is a signed token is returned as it is', async () => {
  const { exported, seen } = exportList(text(list, 200, asJwt));
  expect(await exported).toBe(list);
  expect(seen[0]?.headers.get('accept')).toBe('application/jwt, application/json');
});

test('its errors are JSON, as all are', async () => {
  const { exported } = exportList(json({ message: 'Account not found', code: 1 }, 404));
  await expect(exported).rejects.toMatchObject({ name: 'ApiError', reason: 'accountNotFound' });
});

test.each<[string, Answer]>([
  ['a page', text('<!doctype html><h1>Welcome</h1>', 200, { 'content-type': 'text/html' })],
  ['JSON', json({ list })],
  ['nothing', text('', 200, asJwt)],
])('%s in its place is not of lkm', async (_, answer) => {
  await expect(exportList(answer).exported).rejects.toMatchObject({ name: 'ProtocolError', foreign: true });
});
