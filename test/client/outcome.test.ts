import { expect, test } from 'vitest';
import { ApiError, outcomeUnknown } from '../../src/index.ts';
import { licenseKey, productId } from './examples.ts';
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

const html = { 'content-type': 'text/html; charset=utf-8' };
const asJson = { 'content-type': 'application/json' };
const page = (status: number) => text('<!doctype html><h1>Welcome</h1>', status, html);
const soon = { 'retry-after': '3600' };

async function mutate(...answers: readonly Answer[]) {
  const seen = script(...answers);
  const { client } = scriptedClient();
  const error: unknown = await client.keys.create({ productId }).catch((thrown: unknown) => thrown);
  return { error, unknown: outcomeUnknown(error), requests: seen.length };
}

async function read(...answers: readonly Answer[]) {
  script(...answers);
  return outcomeUnknown(
    await scriptedClient()
      .client.customers.list()
      .catch((thrown: unknown) => thrown),
  );
}

test.each<[string, readonly Answer[]]>([
  ['got no answer', [reset]],
  ['got half an answer', [cutOff]],
  ['got a page', [text('<h1>Bad Gateway</h1>', 502)]],
  ['got JSON that is cut off', [text('{"code":0')]],
  ['was answered 500', [refusal(500, 1)]],
  ['was answered 502', [refusal(502, 1)]],
  ['was answered 504', [refusal(504, 1)]],
  ['is still in progress', [refusal(409, 3, soon)]],
  ['got no answer, and then was refused by the rate limit', [reset, refusal(429, 3, soon)]],
  ['got no answer, and then no storage was there', [reset, refusal(503, 1)]],
  ['got no answer, and then the token was revoked', [reset, refusal(401, 1)]],
  ['got no answer, and then the token had lost its scope', [reset, refusal(403, 1)]],
])('a mutation that %s may have happened, a read may not', async (_title, answers) => {
  expect((await mutate(...answers)).unknown).toBe(true);
  expect(await read(...answers)).toBe(false);
});

test.each<[string, readonly Answer[]]>([
  ['was refused for its input', [refusal(400, 1)]],
  ['was refused for its token', [refusal(401, 1)]],
  ['conflicts with data', [refusal(409, 2)]],
  ['was refused by the rate limit', [refusal(429, 3, soon)]],
  ['met no storage', [refusal(503, 1)]],
  ['met no storage, and then was refused for its token', [refusal(503, 1), refusal(401, 1)]],
  ['got no answer, and then the stored refusal', [reset, refusal(409, 2)]],
  ['got no answer, and then was refused as a business', [reset, refusal(403, 2)]],
])('a mutation that %s did not happen', async (_title, answers) => {
  expect((await mutate(...answers)).unknown).toBe(false);
});

test.each([
  ['an error of another kind', new Error('x')],
  ['something that is not an error', undefined],
  ['a refusal that no client met', new ApiError({ status: 500, code: 1, message: 'no', reason: 'serverError' })],
])('%s says nothing', (_title, error) => {
  expect(outcomeUnknown(error)).toBe(false);
});

test.each<[string, Answer]>([
  ['a choice of addresses', text('', 300, { location: 'https://elsewhere.example/' })],
  ['a redirect', text('', 302, { location: 'https://elsewhere.example/login' })],
  ['a redirect that keeps the method', text('', 307, { location: 'https://elsewhere.example/' })],
  ['a page', page(200)],
  ['a word', text('OK')],
  ['JSON of another service', json({ ok: true })],
  ['JSON that is a list', json([])],
  ['JSON that is null', text('null', 200, asJson)],
  ['a code that is not a number', json({ code: 'OK', data: {} })],
  ['a page that says 404', page(404)],
  ['a page that says the request is too large', page(413)],
  ['JSON that says 404 without a code', json({ message: 'Not Found' }, 404)],
  ['JSON that says 404 with a code that lkm does not have', json({ message: 'Cannot POST /', code: 404 }, 404)],
  ['an empty 404', text('', 404)],
  ['the 404 of lkm for another path', json({ message: 'Not found', code: 1 }, 404)],
  ['the 405 of lkm for another path', json({ message: 'Method not allowed', code: 1 }, 405)],
  ['JSON that says 401 in another form', json({ error: 'unauthorized' }, 401)],
])('a mutation that gets %s was not carried out, and is not repeated', async (_title, answer) => {
  const error = { name: 'ProtocolError', foreign: true, status: expect.any(Number), call: { attempts: 1 } };
  expect(await mutate(answer)).toMatchObject({ error, unknown: false, requests: 1 });
});

test.each<[string, Answer, number]>([
  ['a page that says 500', page(500), 5],
  ...[502, 503, 504].map((status): [string, Answer, number] => [`a page that says ${status}`, page(status), 17]),
  ['a page that says 408, which a proxy may send after the service ran it', page(408), 1],
  ['a page that says 499, as before', page(499), 1],
  ['JSON that is cut off', text('{"code":0,"key":"AAAA', 200, asJson), 1],
  ['JSON that is cut off, with a wrong content type', text('{"code":0,"key":"AAAA', 200, html), 1],
  ['an empty body that is sent as JSON', text('', 200, asJson), 1],
  ['an empty body', text(''), 1],
  ['no content', () => new Response(null, { status: 204 }), 1],
  ['the envelope of lkm with another payload', json({ code: 0, license: licenseKey }), 1],
  ['a code other than 0', json({ code: 7 }), 1],
])('a mutation that gets %s may have been carried out', async (_title, answer, requests) => {
  const error = { name: 'ProtocolError', foreign: false };
  expect(await mutate(answer)).toMatchObject({ error, unknown: true, requests });
});

test.each<[string, boolean, Answer]>([
  ['a response was lost', false, reset],
  ['a page said 504', false, page(504)],
  ['the service answered 500', false, refusal(500, 1)],
  ['a page said 429', true, page(429)],
  ['the service refused for its rate limit', true, refusal(429, 3)],
  ['storage was not available', true, refusal(503, 1)],
])('after an attempt in which %s, a 404 page is foreign: %s', async (_title, foreign, before) => {
  const error = { name: 'ProtocolError', foreign, call: { attempts: 2 } };
  expect(await mutate(before, page(404))).toMatchObject({ error, unknown: !foreign });
});

test('a read that gets a page is foreign even after a lost response', async () => {
  script(reset, page(200));
  await expect(scriptedClient().client.customers.list()).rejects.toMatchObject({ foreign: true });
});

test('an operation whose reply has no code is told apart by its fields', async () => {
  const sign = () => scriptedClient().client.keys.sign({ productId, licenseKey, hostId: 'host-a' });
  script(json({ ok: true }));
  await expect(sign()).rejects.toMatchObject({ name: 'ProtocolError', foreign: true });
  script(json({ file: 7 }));
  await expect(sign()).rejects.toMatchObject({ name: 'ProtocolError', foreign: false });
});
