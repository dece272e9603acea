import { expect, test } from 'vitest';
import { ApiError, ProtocolError } from '../../src/index.ts';
import { issued, licenseKey, productId, shortLicense } from './examples.ts';
import { type Answer, json, scriptedClient, scriptedService, text } from './scripted-service.ts';

const { script } = scriptedService();

const create = () => scriptedClient({ maxRetries: 0 }).client.keys.create({ productId });
const get = () => scriptedClient({ maxRetries: 0 }).client.keys.get({ productId, licenseKey });
const call = { operation: 'POST /create-key', idempotencyKey: 'key-1', attempts: 1 };

test('reads the shorter form of a licence', async () => {
  script(json({ data: { license: shortLicense, customer: null }, code: 0 }));
  expect(await get()).toEqual({ license: shortLicense, customer: null });
});

test('passes on fields that a later service adds', async () => {
  const license = { ...shortLicense, tier: 'gold', devices: [{ ...shortLicense.devices[0], os: 'plan9' }] };
  script(json({ data: { license, customer: null, reseller: 'r' }, code: 0, took: 3 }));
  expect(await get()).toEqual({ license, customer: null, reseller: 'r' });
});

test('rebuilds a refusal that the endpoint lists', async () => {
  script(json({ message: 'Product not found or inactive', code: 1 }, 404));
  const error = await create().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    message: 'Product not found or inactive',
    reason: 'productUnavailable',
    status: 404,
    code: 1,
    call,
  });
});

test('rebuilds a refusal that any endpoint may give', async () => {
  script(json({ message: 'Invalid access token', code: 1 }, 401));
  await expect(create()).rejects.toMatchObject({ name: 'ApiError', reason: 'invalidToken', status: 401 });
});

test.each<[header: string | null, fields: readonly string[]]>([
  ['usesPerKey, newCustomer.email', ['usesPerKey', 'newCustomer.email']],
  ['metadata.features.%D0%BA%2C,ttl', ['metadata.features.к,', 'ttl']],
  ['%zz, ,', ['%zz']],
  ['', []],
  [null, []],
])('reads which fields are wrong from %j', async (header, fields) => {
  const headers: Record<string, string> = header === null ? {} : { 'LKM-Invalid-Fields': header };
  script(json({ message: 'Missing required params', code: 1 }, 400, headers));
  await expect(create()).rejects.toMatchObject({ reason: 'invalidParams', fields });
});

test('keeps a refusal that this contract does not know, without a reason', async () => {
  script(json({ message: 'Payment required', code: 77 }, 402));
  await expect(create()).rejects.toMatchObject({ message: 'Payment required', reason: null, status: 402, code: 77 });
});

test.each<[string, Answer, number, string]>([
  [
    'JSON that is cut off',
    text('{"code":0,"key":"AAAAA'),
    200,
    'the service answered 200 with something that is not JSON',
  ],
  ['an empty body', text(''), 200, 'the service answered 200 with something that is not JSON'],
  [
    'a wrong shape',
    json({ code: 0, key: 7 }),
    200,
    'the service answered 200 in a shape outside its contract: key: Invalid input: expected string, received number',
  ],
  [
    'a code other than 0 in a success',
    json({ code: 1, key: 'k' }),
    200,
    'the service answered 200 in a shape outside its contract: code: Invalid input: expected 0',
  ],
  [
    'a page of a proxy',
    text('<h1>Bad Gateway</h1>', 502),
    502,
    'the service answered 502 with something that is not JSON, as a proxy does that cannot reach the service',
  ],
  ['a page', text('<h1>Oh no</h1>', 500), 500, 'the service answered 500 with something that is not JSON'],
  ['an error of another form', json({ error: 'x' }, 400), 400, 'the service answered 400 without a message and a code'],
  ['a null error', text('null', 500), 500, 'the service answered 500 without a message and a code'],
  [
    'a redirect',
    text('', 302, { location: 'https://elsewhere.example/login?licenseKey=secret' }),
    302,
    'the service answered with a redirect to https://elsewhere.example/login; check the base URL',
  ],
  [
    'a redirect without an address',
    text('', 301),
    301,
    'the service answered with a redirect that names no address; check the base URL',
  ],
])('takes %s for a breach of the contract', async (_title, answer, status, message) => {
  const seen = script(answer);
  const error = await create().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProtocolError);
  expect(error).toMatchObject({ message, status, call });
  expect(seen).toHaveLength(1);
});

test('does not quote a cut-off answer, which may hold a key', async () => {
  script(text('{"code":0,"key":"AAAAA'));
  const error = await create().catch((thrown: unknown) => thrown);
  expect(error).toHaveProperty('cause', undefined);
});

test('reads an answer of 16 MiB and no more', async () => {
  const padding = 16 * 1024 * 1024 - JSON.stringify({ ...issued, x: '' }).length;
  script(json({ ...issued, x: 'x'.repeat(padding) }));
  expect((await create()).key).toBe(licenseKey);
  script(json({ ...issued, x: 'x'.repeat(padding + 1) }));
  await expect(create()).rejects.toThrow('the service answered 200 with more than 16777216 bytes');
});
