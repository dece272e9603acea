import { expect, test } from 'vitest';
import { encodeInput } from '../../src/client/request.ts';
import { contract } from '../../src/contract/index.ts';
import { createClient, InputError } from '../../src/index.ts';
import { issued, licenseKey, productId, shortLicense } from './examples.ts';
import { json, scriptedClient, scriptedService } from './scripted-service.ts';

const { keys, products, customers, tokens } = contract;

test('writes fields as the wire wants them, in the query or in the body, where the contract names them', () => {
  const input = { productId, usesPerKey: 5, expiryDate: null, customerId: undefined };
  const body = `{"productId":"${productId}","usesPerKey":"5","expiryDate":null}`;
  expect(encodeInput(keys.create, input)).toEqual({ search: '', body });
  const search = `?productId=${productId}`;
  expect(encodeInput(products.update, { productId, name: 'A & B' })).toEqual({ search, body: '{"name":"A & B"}' });
  const escaped = { search: '?customerId=a+b%26c%3Dd%2F%C3%A9', body: null };
  expect(encodeInput(customers.delete, { customerId: 'a b&c=d/é' })).toEqual(escaped);
  expect(encodeInput(customers.list, {})).toEqual({ search: '', body: null });
});

test.each([
  ['every field that is wrong', keys.get, { productId: 'short' }, ['productId', 'licenseKey']],
  ['a field inside another', keys.create, { productId, newCustomer: { name: '', email: 'x' } }, ['newCustomer.name']],
  ['a number out of range', keys.create, { productId, usesPerKey: 0 }, ['usesPerKey']],
  ['an instant without milliseconds', keys.create, { productId, expiryDate: '2027-01-01T00:00:00Z' }, ['expiryDate']],
  [
    'two that exclude each other',
    keys.create,
    { productId, customerId: 'c', newCustomer: { name: 'A' } },
    ['customerId'],
  ],
  ['a body that changes nothing', products.update, { productId }, ['']],
  ['scopes of an admin', tokens.create, { name: 'ci', kind: 'admin', scopes: ['license:read'] }, ['scopes']],
  ['a field that no schema names', keys.get, { productId, licenseKey, hostID: 'h' }, ['hostID']],
  ['a field for an operation without fields', tokens.self, { page: 2 }, ['page']],
  ['something that is not an object', keys.get, null, ['']],
] as const)('names %s', (_title, endpoint, input, paths) => {
  const issues = expect.arrayContaining(paths.map((path) => expect.objectContaining({ path })));
  expect(() => encodeInput(endpoint, input)).toThrow(expect.objectContaining({ name: 'InputError', issues }));
});

test('says in one line what is wrong', () => {
  const encode = () => encodeInput(keys.get, { productId, licenseKey: 'short' });
  expect(encode).toThrow('licenseKey: Too small: expected string to have >=6 characters');
});

test('says what a field is called that another operation names differently', () => {
  expect(() => encodeInput(keys.create, { productId, maxActivations: 5 })).toThrow('unknown field; here: usesPerKey');
  expect(() => encodeInput(keys.create, { productId, toString: 5 })).toThrow(/unknown field$/);
});

const fetch = async () => new Response();
const plainHttp = 'must begin with https://; plain http is for loopback addresses only';

test.each([
  'https://licensing.example.com',
  'https://licensing.example.com/api/',
  'http://localhost:4747',
  'http://127.0.0.1:4747',
  'http://127.8.9.10',
  'http://127.1',
  'http://[::1]:4747',
])('takes the base URL %s', (baseUrl) => {
  expect(() => createClient({ baseUrl, token: 't' })).not.toThrow();
});

test.each([
  ['licensing.example.com', 'is not a URL'],
  ['ftp://licensing.example.com', 'must begin with https://'],
  ['https://user:pass@licensing.example.com', 'must not carry a user name or password'],
  ['https://licensing.example.com/?a=1', 'must not carry a query or fragment'],
  ['http://licensing.example.com', plainHttp],
  ['http://127.0.0.1.example.com', plainHttp],
  ['http://localhost.example.com', plainHttp],
  ['http://[::2]', plainHttp],
  ['http://10.0.0.1', plainHttp],
])('refuses the base URL %s', (baseUrl, message) => {
  expect(() => createClient({ baseUrl })).toThrow(new InputError([{ path: 'baseUrl', message }]));
});

test('takes plain http beyond loopback only with a network of the caller’s and without a token', () => {
  const baseUrl = 'http://service.internal';
  expect(() => createClient({ baseUrl, fetch })).not.toThrow();
  expect(() => createClient({ baseUrl, fetch, token: 't' })).toThrow(InputError);
});

test('refuses a token that no header can carry, without repeating it', () => {
  const make = () => createClient({ baseUrl: 'https://licensing.example.com', token: 'secret\nx: y' });
  expect(make).toThrow(new InputError([{ path: 'token', message: 'must be visible ASCII without spaces' }]));
});

test.each([
  [{ timeoutMs: 0 }, 'timeoutMs', 'must be a number above 0'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs', 'must be a number above 0'],
  [{ maxRetries: -1 }, 'maxRetries', 'must be a number of at least 0'],
  [{ maxRetries: Number.NaN }, 'maxRetries', 'must be a number of at least 0'],
  [{ maxWaitMs: -1 }, 'maxWaitMs', 'must be a number of at least 0'],
])('a client with %j is refused', (limits, path, message) => {
  const make = () => createClient({ baseUrl: 'https://lkm.example', ...limits });
  expect(make).toThrow(new InputError([{ path, message }]));
});

const { script } = scriptedService();

test('a mutation carries the token, JSON and an idempotency key', async () => {
  const seen = script(json(issued));
  const { client } = scriptedClient({ userAgent: 'lkm/0.1.0' });
  expect(await client.keys.create({ productId, usesPerKey: 5 })).toEqual({ key: licenseKey });
  const body = `{"productId":"${productId}","usesPerKey":"5"}`;
  expect(seen).toMatchObject([{ line: 'POST /create-key', body }]);
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
  await scriptedClient().client.keys.get({ productId, licenseKey }, { idempotencyKey: 'mine' });
  expect(seen[0]?.line).toBe(`GET /key?productId=${productId}&licenseKey=${licenseKey}`);
  expect(['idempotency-key', 'content-type'].filter((name) => seen[0]?.headers.has(name))).toEqual([]);
});

test('a mutation without body carries its key too, and each call has one of its own', async () => {
  const seen = script(json({ action: 'customers.delete', status: true, code: 0 }));
  const { client } = scriptedClient();
  const remove = (idempotencyKey?: string) => client.customers.delete({ customerId: 'cus_1' }, { idempotencyKey });
  expect([await remove('mine'), await remove(), await remove()]).toEqual([undefined, undefined, undefined]);
  expect(seen.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['mine', 'key-1', 'key-2']);
  expect(seen[0]).toMatchObject({ line: 'DELETE /customer/by-id?customerId=cus_1', body: '' });
});

test('a public endpoint is not shown the token', async () => {
  const seen = script(json({ keys: [] }));
  expect(await scriptedClient().client.signingKeys.jwks()).toEqual({ keys: [] });
  expect(seen[0]?.headers.has('authorization')).toBe(false);
});

test.each([
  ...['a', 'order 17', 'x'.repeat(255)].map((key) => [key, true] as const),
  ...['', ' ', ' a', 'a ', 'é', 'a\nb', 'x'.repeat(256)].map((key) => [key, false] as const),
])('sends the idempotency key %j: %s', async (idempotencyKey, isSent) => {
  const seen = script(json(issued));
  const created = scriptedClient().client.keys.create({ productId }, { idempotencyKey });
  if (isSent) await created;
  else await expect(created).rejects.toThrow(InputError);
  expect(seen.map(({ headers }) => headers.get('idempotency-key'))).toEqual(isSent ? [idempotencyKey] : []);
});

test('an input that does not fit rejects, and nothing is sent', async () => {
  const seen = script(json(issued));
  await expect(scriptedClient().client.keys.create({ productId: 'short' })).rejects.toThrow(InputError);
  expect(seen).toEqual([]);
});
