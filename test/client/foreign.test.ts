import { expect, test } from 'vitest';
import { outcomeUnknown } from '../../src/index.ts';
import { licenseKey, productId } from './examples.ts';
import { type Answer, json, refusal, reset, scriptedClient, scriptedService, text } from './scripted-service.ts';

const { script } = scriptedService();

const html = { 'content-type': 'text/html; charset=utf-8' };
const page = (status: number) => text('<!doctype html><h1>Welcome</h1>', status, html);
const asJson = { 'content-type': 'application/json' };

async function mutate(...answers: readonly Answer[]) {
  const seen = script(...answers);
  const { client } = scriptedClient();
  const error: unknown = await client.keys.create({ productId }).catch((thrown: unknown) => thrown);
  return { error, unknown: outcomeUnknown(error), requests: seen.length };
}

test.each<[string, Answer]>([
  ['a redirect', text('', 302, { location: 'https://elsewhere.example/login' })],
  ['a redirect that keeps the method', text('', 307, { location: 'https://elsewhere.example/' })],
  ['a page', page(200)],
  ['an empty body', text('')],
  ['no content', () => new Response(null, { status: 204 })],
  ['a word', text('OK')],
  ['JSON of another service', json({ ok: true })],
  ['JSON that is a list', json([])],
  ['JSON that is null', text('null', 200, asJson)],
  ['a code that is not a number', json({ code: 'OK', data: {} })],
  ['a page that says 404', page(404)],
  ['a page that says 405', page(405)],
  ['a page that says 403', page(403)],
  ['JSON that says 404 without a code', json({ message: 'Not Found' }, 404)],
  ['JSON that says 401 in another form', json({ error: 'unauthorized' }, 401)],
  ['a page that says the request is too large', page(413)],
])('a mutation that gets %s was not carried out, and is not repeated', async (_title, answer) => {
  expect(await mutate(answer)).toMatchObject({
    error: { name: 'ProtocolError', foreign: true, status: expect.any(Number), call: { attempts: 1 } },
    unknown: false,
    requests: 1,
  });
});

test.each<[string, Answer, number]>([
  ['a page that says 500', page(500), 5],
  ['a page that says 408, which a proxy may send after the service ran it', page(408), 1],
  ['JSON that is cut off', text('{"code":0,"key":"AAAA', 200, asJson), 1],
  ['JSON that is cut off, with a wrong content type', text('{"code":0,"key":"AAAA', 200, html), 1],
  ['an empty body that is sent as JSON', text('', 200, asJson), 1],
  ['the envelope of lkm with another payload', json({ code: 0, license: licenseKey }), 1],
  ['a code other than 0', json({ code: 7 }), 1],
])('a mutation that gets %s may have been carried out', async (_title, answer, requests) => {
  expect(await mutate(answer)).toMatchObject({
    error: { name: 'ProtocolError', foreign: false },
    unknown: true,
    requests,
  });
});

test.each([502, 503, 504])(
  'a mutation that gets a page that says %i may have been carried out, and is repeated',
  async (status) => {
    const { error, unknown, requests } = await mutate(page(status));
    expect(error).toMatchObject({ name: 'ProtocolError', foreign: false, status });
    expect(unknown).toBe(true);
    expect(requests).toBeGreaterThan(5);
  },
);

test.each<[string, boolean, Answer]>([
  ['a response was lost', false, reset],
  ['a page said 504', false, page(504)],
  ['the service answered 500', false, refusal(500, 1)],
  ['a page said 429', true, page(429)],
  ['the service refused for its rate limit', true, refusal(429, 3)],
  ['storage was not available', true, refusal(503, 1)],
])('after an attempt in which %s, a 404 page is foreign: %s', async (_title, foreign, before) => {
  const { error, unknown } = await mutate(before, page(404));
  expect(error).toMatchObject({ name: 'ProtocolError', foreign, call: { attempts: 2 } });
  expect(unknown).toBe(!foreign);
});

test('a read that gets a page is foreign even after a lost response', async () => {
  script(reset, page(200));
  const error = await scriptedClient()
    .client.customers.list()
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'ProtocolError', foreign: true });
  expect(outcomeUnknown(error)).toBe(false);
});

test('an operation whose reply has no code is told apart by its fields', async () => {
  const sign = () => scriptedClient().client.keys.sign({ productId, licenseKey, hostId: 'host-a' });
  script(json({ ok: true }));
  await expect(sign()).rejects.toMatchObject({ name: 'ProtocolError', foreign: true });
  script(json({ file: 7 }));
  await expect(sign()).rejects.toMatchObject({ name: 'ProtocolError', foreign: false });
});
