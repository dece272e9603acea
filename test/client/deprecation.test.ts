import { expect, test } from 'vitest';
import type { DeprecationNotice } from '../../src/index.ts';
import { issued, productId } from './examples.ts';
import { json, scriptedClient, scriptedService } from './scripted-service.ts';

const { script } = scriptedService();
const sunset = 'Fri, 01 Jan 2027 00:00:00 GMT';

function listen() {
  const notices: DeprecationNotice[] = [];
  return { notices, ...scriptedClient({ onNotice: (notice) => notices.push(notice) }) };
}

test('says once per endpoint that it is being retired', async () => {
  script(json(issued, 200, { deprecation: '@1798761600', sunset }));
  const { client, notices } = listen();
  await client.keys.create({ productId });
  await client.keys.create({ productId });
  expect(notices).toEqual([{ operation: 'POST /create-key', deprecated: '@1798761600', sunset }]);
});

test('says so of each endpoint, and on refusals too', async () => {
  script(json({ message: 'no', code: 1 }, 404, { sunset }));
  const { client, notices } = listen();
  await expect(client.keys.create({ productId })).rejects.toThrow('no');
  await expect(client.customers.list()).rejects.toThrow('no');
  expect(notices).toEqual([
    { operation: 'POST /create-key', deprecated: null, sunset },
    { operation: 'GET /customer', deprecated: null, sunset },
  ]);
});

test('says nothing of an endpoint that stays', async () => {
  script(json(issued));
  const { client, notices } = listen();
  await client.keys.create({ productId });
  expect(notices).toEqual([]);
});
