import { expect, test } from 'vitest';
import { ApiError, outcomeUnknown } from '../../src/index.ts';
import { productId } from './examples.ts';
import { type Answer, cutOff, refusal, reset, scriptedClient, scriptedService, text } from './scripted-service.ts';

const { script } = scriptedService();

async function judge(answers: readonly Answer[], kind: 'mutation' | 'read') {
  script(...answers);
  const { client } = scriptedClient({ maxRetries: answers.length - 1 });
  const called = kind === 'mutation' ? client.keys.create({ productId }) : client.customers.list();
  return outcomeUnknown(await called.catch((error: unknown) => error));
}

test.each<[string, readonly Answer[]]>([
  ['got no answer', [reset]],
  ['got half an answer', [cutOff]],
  ['got a page', [text('<h1>Bad Gateway</h1>', 502)]],
  ['got JSON that is cut off', [text('{"code":0')]],
  ['was answered 500', [refusal(500, 1)]],
  ['was answered 502', [refusal(502, 1)]],
  ['was answered 504', [refusal(504, 1)]],
  ['is still in progress', [refusal(409, 3, { 'retry-after': '3600' })]],
  ['got no answer, and then was refused by the rate limit', [reset, refusal(429, 3, { 'retry-after': '3600' })]],
  ['got no answer, and then no storage was there', [reset, refusal(503, 1)]],
  ['got no answer, and then the token was revoked', [reset, refusal(401, 1)]],
  ['got no answer, and then the token had lost its scope', [reset, refusal(403, 1)]],
])('a mutation that %s may have happened, a read may not', async (_title, answers) => {
  expect(await judge(answers, 'mutation')).toBe(true);
  expect(await judge(answers, 'read')).toBe(false);
});

test.each<[string, readonly Answer[]]>([
  ['was refused for its input', [refusal(400, 1)]],
  ['was refused for its token', [refusal(401, 1)]],
  ['conflicts with data', [refusal(409, 2)]],
  ['was refused by the rate limit', [refusal(429, 3, { 'retry-after': '3600' })]],
  ['met no storage', [refusal(503, 1)]],
  ['got no answer, and then the stored refusal', [reset, refusal(409, 2)]],
  ['got no answer, and then was refused as a business', [reset, refusal(403, 2)]],
])('a mutation that %s did not happen', async (_title, answers) => {
  expect(await judge(answers, 'mutation')).toBe(false);
});

test.each([
  ['an error of another kind', new Error('x')],
  ['something that is not an error', undefined],
  ['a refusal that no client met', new ApiError({ status: 500, code: 1, message: 'no', reason: 'serverError' })],
])('%s says nothing', (_title, error) => {
  expect(outcomeUnknown(error)).toBe(false);
});
