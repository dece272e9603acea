import { expect, test } from 'vitest';
import { InputError } from '../../src/index.ts';
import { customer, issued, licenseKey, productId, shortLicense } from './examples.ts';
import { json, scriptedClient, scriptedService } from './scripted-service.ts';

const { script } = scriptedService();

test('a mutation carries the token, JSON and an idempotency key', async () => {
  const seen = script(json(issued));
  const { client } = scriptedClient({ userAgent: 'lkm/0.1.0' });
  expect(await client.keys.create({ productId, usesPerKey: 5 })).toEqual({ key: licenseKey });
  expect(seen.map(({ line, body }) => ({ line, body }))).toEqual([
    { line: 'POST /create-key', body: `{"productId":"${productId}","usesPerKey":"5"}` },
  ]);
  expect(Object.fromEntries(seen[0]?.headers ?? [])).toMatchObject({
    accept: 'application/json',
    authorization: 'Bearer lkm_admin_secret',
    'content-type': 'application/json',
    'idempotency-key': 'key-1',
    'user-agent': 'lkm/0.1.0',
  });
});

test('a read carries neither body nor idempotency key, even when one is given', async () => {
  const seen = script(json({ data: { license: shortLicense, customer: null }, code: 0 }));
  const { client } = scriptedClient();
  await client.keys.get({ productId, licenseKey }, { idempotencyKey: 'mine' });
  expect(seen[0]?.line).toBe(`GET /key?productId=${productId}&licenseKey=${licenseKey}`);
  expect(seen[0]?.headers.has('idempotency-key')).toBe(false);
  expect(seen[0]?.headers.has('content-type')).toBe(false);
});

test('a mutation without body carries its key too', async () => {
  const seen = script(json({ action: 'customers.delete', status: true, code: 0 }));
  const { client } = scriptedClient();
  expect(await client.customers.delete({ customerId: 'cus_1' }, { idempotencyKey: 'mine' })).toBeUndefined();
  expect(seen[0]?.line).toBe('DELETE /customer/by-id?customerId=cus_1');
  expect(seen[0]?.headers.get('idempotency-key')).toBe('mine');
  expect(seen[0]?.body).toBe('');
});

test('each call has a key of its own', async () => {
  const seen = script(json(issued));
  const { client } = scriptedClient();
  await client.keys.create({ productId });
  await client.keys.create({ productId });
  expect(seen.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['key-1', 'key-2']);
});

test('input may be left out where nothing is required', async () => {
  script(json({ action: 'customers.list', status: true, data: [customer], code: 0 }));
  expect(await scriptedClient().client.customers.list()).toEqual({ items: [customer] });
});

test('a public endpoint is not shown the token', async () => {
  const seen = script(json({ keys: [] }));
  expect(await scriptedClient().client.signingKeys.jwks()).toEqual({ keys: [] });
  expect(seen[0]?.headers.has('authorization')).toBe(false);
});

test.each(['', ' ', ' a', 'a ', 'é', 'a\nb', 'x'.repeat(256)])(
  'refuses the idempotency key %j before anything is sent',
  async (idempotencyKey) => {
    const seen = script(json(issued));
    await expect(scriptedClient().client.keys.create({ productId }, { idempotencyKey })).rejects.toThrow(InputError);
    expect(seen).toEqual([]);
  },
);

test.each(['a', 'order 17', 'x'.repeat(255)])('takes the idempotency key %j', async (idempotencyKey) => {
  const seen = script(json(issued));
  await scriptedClient().client.keys.create({ productId }, { idempotencyKey });
  expect(seen[0]?.headers.get('idempotency-key')).toBe(idempotencyKey);
});

test('an input that does not fit rejects, and nothing is sent', async () => {
  const seen = script(json(issued));
  await expect(scriptedClient().client.keys.create({ productId: 'short' })).rejects.toThrow(InputError);
  expect(seen).toEqual([]);
});
