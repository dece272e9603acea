import { hash } from 'node:crypto';
import { expect } from 'vitest';
import { test as it } from '../support/fixtures.ts';

it('names in each response to a change the key that it saw, by a part of its hash, and in no other response', async ({
  service,
}) => {
  const seen = async (method: string, headers: Readonly<Record<string, string>>, body?: string) => {
    const all = { Authorization: `Bearer ${service.adminToken}`, 'Content-Type': 'application/json', ...headers };
    const answer = await fetch(`${service.server.url}/customer`, { method, headers: all, ...(body && { body }) });
    return [answer.status, answer.headers.get('lkm-idempotency-key')];
  };
  const ada = '{"name":"Ada"}';
  const short = hash('sha256', 'my key').slice(0, 12);
  expect(await seen('POST', { 'Idempotency-Key': 'my key' }, ada)).toEqual([201, short]);
  expect(await seen('POST', { 'X-Idempotency-Key': 'my key' }, ada)).toEqual([201, short]);
  expect(await seen('POST', { 'Idempotency-Key': 'my key' }, '{"name":"Eve"}')).toEqual([400, short]);
  expect(await seen('POST', { 'Idempotency-Key': 'my key', Authorization: 'Bearer x' }, ada)).toEqual([401, short]);
  expect(await seen('POST', {}, ada)).toEqual([201, 'none']);
  expect(await seen('POST', { 'Idempotency-Key': '' }, ada)).toEqual([400, 'none']);
  expect(await seen('GET', { 'Idempotency-Key': 'my key' })).toEqual([200, null]);
});
