import { expect, test } from 'vitest';
import type { DeprecationNotice } from '../../src/index.ts';
import { issued, licenseKey, productId, shortLicense } from './examples.ts';
import { type Answer, json, refusal, scriptedClient, scriptedService, text } from './scripted-service.ts';

const { script } = scriptedService();

const create = () => scriptedClient({ maxRetries: 0 }).client.keys.create({ productId });
const call = { operation: 'POST /create-key', idempotencyKey: 'key-1', attempts: 1 };

test('reads the shorter form of a licence, and passes on fields that a later service adds', async () => {
  const get = () => scriptedClient().client.keys.get({ productId, licenseKey });
  script(json({ data: { license: shortLicense, customer: null }, code: 0 }));
  expect(await get()).toEqual({ license: shortLicense, customer: null });
  const license = { ...shortLicense, tier: 'gold', devices: [{ ...shortLicense.devices[0], os: 'plan9' }] };
  script(json({ data: { license, customer: null, reseller: 'r' }, code: 0, took: 3 }));
  expect(await get()).toEqual({ license, customer: null, reseller: 'r' });
});

test.each([
  ['that the endpoint lists', 404, 1, 'Product not found or inactive', 'productUnavailable'],
  ['that any endpoint may give', 401, 1, 'Invalid access token', 'invalidToken'],
  ['that this contract does not know, without a reason', 402, 77, 'Payment required', null],
])('rebuilds a refusal %s', async (_title, status, code, message, reason) => {
  script(json({ message, code }, status));
  await expect(create()).rejects.toMatchObject({ name: 'ApiError', message, reason, status, code, call });
});

test.each<[header: string | null, fields: readonly string[]]>([
  ['usesPerKey, newCustomer.email', ['usesPerKey', 'newCustomer.email']],
  ['metadata.features.%D0%BA%2C,ttl', ['metadata.features.к,', 'ttl']],
  ['%zz, ,', ['%zz']],
  ['', []],
  [null, []],
])('reads which fields are wrong from %j', async (header, fields) => {
  script(refusal(400, 1, header === null ? {} : { 'LKM-Invalid-Fields': header }));
  await expect(create()).rejects.toMatchObject({ reason: 'invalidParams', fields });
});

const inTenSeconds = 'Sat, 21 Nov 2026 12:00:10 GMT';

test.each<[string, Record<string, string>, number | null]>([
  ['whole seconds', { 'retry-after': '7' }, 7_000],
  ['a date, against the clock here', { 'retry-after': inTenSeconds }, 10_000],
  ['a date, against that of the answer', { 'retry-after': inTenSeconds, date: 'Sat, 21 Nov 2026 12:00:08 GMT' }, 2_000],
  ['a date that has passed', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
  ['nothing', {}, null],
  ['an empty header', { 'retry-after': '' }, null],
  ['a negative number', { 'retry-after': '-5' }, null],
  ['a fraction', { 'retry-after': '1.5' }, null],
  ['a date in another form', { 'retry-after': '2026-11-21' }, null],
  ['a day that does not exist', { 'retry-after': 'Sat, 41 Nov 2026 12:00:10 GMT' }, null],
])('reads how long the service asks to wait from %s', async (_title, headers, retryAfterMs) => {
  script(refusal(404, 1, headers));
  await expect(create()).rejects.toMatchObject({ name: 'ApiError', retryAfterMs });
  script(text('<h1>Not here</h1>', 404, headers));
  await expect(create()).rejects.toMatchObject({ name: 'ProtocolError', retryAfterMs });
});

const notJson = 'the service answered 200 with something that is not JSON';

test.each<[string, Answer, number, string]>([
  ['JSON that is cut off', text('{"code":0,"key":"AAAAA'), 200, notJson],
  ['an empty body', text(''), 200, notJson],
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
  await expect(create()).rejects.toMatchObject({ name: 'ProtocolError', message, status, call });
  expect(seen).toHaveLength(1);
});

test('does not quote a cut-off answer, which may hold a key', async () => {
  script(text('{"code":0,"key":"AAAAA'));
  expect(await create().catch((thrown: unknown) => thrown)).toHaveProperty('cause', undefined);
});

test('reads an answer of 16 MiB and no more', async () => {
  const padding = 16 * 1024 * 1024 - JSON.stringify({ ...issued, x: '' }).length;
  script(json({ ...issued, x: 'x'.repeat(padding) }));
  expect((await create()).key).toBe(licenseKey);
  script(json({ ...issued, x: 'x'.repeat(padding + 1) }));
  await expect(create()).rejects.toThrow('the service answered 200 with more than 16777216 bytes');
});

test('reads a signed token as it is, and its errors as JSON', async () => {
  const list = 'eyJhbGciOiJFZERTQSJ9.eyJzZXEiOjF9.c2lnbmF0dXJl';
  const asJwt = { 'content-type': 'application/jwt' };
  const exportList = () => scriptedClient().client.revocations.export();
  const seen = script(text(list, 200, asJwt));
  expect(await exportList()).toBe(list);
  expect(seen[0]?.headers.get('accept')).toBe('application/jwt, application/json');
  script(json({ message: 'Account not found', code: 1 }, 404));
  await expect(exportList()).rejects.toMatchObject({ name: 'ApiError', reason: 'accountNotFound' });
  for (const answer of [text('<h1>Welcome</h1>'), json({ list }), text('', 200, asJwt)]) {
    script(answer);
    await expect(exportList()).rejects.toMatchObject({ name: 'ProtocolError', foreign: true });
  }
});

test('says once per endpoint that it is being retired, on refusals too', async () => {
  const sunset = 'Fri, 01 Jan 2027 00:00:00 GMT';
  const notices: DeprecationNotice[] = [];
  const { client } = scriptedClient({ onNotice: (notice) => notices.push(notice) });
  script(json(issued));
  await client.keys.create({ productId });
  expect(notices).toEqual([]);
  script(json(issued, 200, { deprecation: '@1798761600', sunset }), json(issued), refusal(404, 1, { sunset }));
  await client.keys.create({ productId });
  await client.keys.create({ productId });
  await expect(client.customers.list()).rejects.toThrow('no');
  expect(notices).toEqual([
    { operation: 'POST /create-key', deprecated: '@1798761600', sunset },
    { operation: 'GET /customer', deprecated: null, sunset },
  ]);
});
