import { expect, it } from 'vitest';
import { createTestClock } from '../../src/server/index.ts';
import { startTestServer } from '../support/server.ts';

const STARTED_AT = '2026-01-31T10:00:00.000Z';

const path = '/_test/clock';
const startTime = () => createTestClock(Date.parse(STARTED_AT));
const now = (instant: string) => ({ data: { now: instant }, code: 0 });

it('stands still until it is moved, by a duration of the calendar or to an instant', async () => {
  await using service = await startTestServer({ clock: startTime() });
  const createdAt = async () => (await service.call('POST', '/product', { name: 'Editor' })).body.data.createdAt;
  expect(await createdAt()).toBe(STARTED_AT);
  expect(await service.call('POST', path, { advance: 'P1M' })).toMatchObject({
    status: 200,
    body: now('2026-02-28T10:00:00.000Z'),
  });
  expect(await createdAt()).toBe('2026-02-28T10:00:00.000Z');
  expect((await service.call('POST', path, { now: '2026-03-01T12:00:00+02:00' })).body).toEqual(
    now('2026-03-01T10:00:00.000Z'),
  );
  expect((await service.call('POST', path, { now: '2026-03-01T10:00:00Z' })).body).toEqual(
    now('2026-03-01T10:00:00.000Z'),
  );
  expect(await createdAt()).toBe('2026-03-01T10:00:00.000Z');
});

it.each([
  ['an instant before its own', { now: '2026-01-31T09:59:59.999Z' }],
  ['both', { now: '2027-01-01T00:00:00Z', advance: 'P1D' }],
  ['neither', {}],
  ['what is no duration', { advance: 'a month' }],
  ['what is no instant', { now: 'tomorrow' }],
])('refuses %s, and stays where it is', async (_, body) => {
  const clock = startTime();
  await using service = await startTestServer({ clock });
  expect(await service.call('POST', path, body)).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^Missing required params/), code: 1 },
  });
  expect(clock.now()).toBe(Date.parse(STARTED_AT));
});

it('obeys an admin token only, which ends with the time that it sets', async () => {
  await using service = await startTestServer({ clock: startTime() });
  const move = (authorization: string) =>
    service.call('POST', path, { advance: 'P1D' }, { Authorization: authorization });
  const { token } = (await service.call('POST', '/token', { kind: 'read-only', name: 'reader' })).body.data;
  expect(await move('')).toMatchObject({ status: 401, body: { message: 'Invalid access token', code: 1 } });
  expect(await move(`Bearer ${token}`)).toMatchObject({ status: 403, body: { code: 1 } });
  const expiresAt = '2026-02-01T10:00:00Z';
  const short = (await service.call('POST', '/token', { kind: 'admin', name: 'short', expiresAt })).body.data.token;
  expect((await move(`Bearer ${short}`)).body).toEqual(now('2026-02-01T10:00:00.000Z'));
  expect((await move(`Bearer ${short}`)).status).toBe(401);
});

it('runs the jobs that are due before it answers', async () => {
  await using service = await startTestServer({ clock: startTime() });
  const key = { 'Idempotency-Key': 'once' };
  const create = async () => (await service.call('POST', '/product', { name: 'Editor' }, key)).body.data.id;
  const runs = () => service.server.jobHealth().find(({ name }) => name === 'cleanup')?.runs;
  const first = await create();
  await service.call('POST', path, { advance: 'PT24H' });
  expect(runs()).toBe(1);
  expect(await create()).toBe(first);
  await service.call('POST', path, { advance: 'PT23H59M' });
  expect(runs()).toBe(1);
  await service.call('POST', path, { advance: 'PT1M' });
  expect(runs()).toBe(2);
  expect(await create()).not.toBe(first);
});

it('is not there without a test clock, nor in the OpenAPI document with one', async () => {
  await using plain = await startTestServer();
  const unknown = await plain.call('POST', '/_test/other', {});
  const answer = await plain.call('POST', path, { advance: 'P1D' });
  expect([answer.status, answer.body]).toEqual([404, unknown.body]);
  await using service = await startTestServer({ clock: startTime() });
  expect((await service.call('GET', '/openapi.json')).text).not.toContain('_test');
  expect((await service.call('GET', path)).status).toBe(405);
});

it('moves for every server that shares it, and for none that has closed', async () => {
  const clock = startTime();
  await using first = await startTestServer({ clock });
  const second = await startTestServer({ clock });
  const runs = ({ server }: typeof first) => server.jobHealth().find(({ name }) => name === 'cleanup')?.runs;
  await clock.moveTo(clock.now());
  expect([runs(first), runs(second)]).toEqual([1, 1]);
  await second[Symbol.asyncDispose]();
  await clock.moveTo(clock.now() + 24 * 60 * 60 * 1_000);
  expect([runs(first), runs(second)]).toEqual([2, 1]);
  await expect(clock.moveTo(clock.now() - 1)).rejects.toThrow('forward only');
});
