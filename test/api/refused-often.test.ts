import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import type { World } from '../support/world.ts';

const rowsOf = async (world: World) => {
  await world.sequence();
  return (await world.call('admin', 'GET', '/audit/list?limit=1000')).body.data;
};

const countsOf = async (world: World) =>
  (await rowsOf(world))
    .filter(({ outcome }: { outcome: string }) => outcome === 'refused')
    .map(({ details }: { details: { count?: number } }) => details.count ?? 1);

describe.each(engines)('requests that are refused again and again, on $name', (engine) => {
  const it = testsOn(engine);

  it('for lack of rights leave a few rows an hour, each with how many there were', async ({ world }) => {
    const refuse = async (times: number) => {
      for (let i = 0; i < times; i += 1) {
        expect((await world.call('read-only', 'POST', '/product', { name: `p${i}` })).status).toBe(403);
      }
    };
    await refuse(5);
    world.setNow('2026-11-21T10:59:59.999Z');
    await refuse(95);
    expect(await countsOf(world)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 40, 80]);
    expect((await world.call('read-only', 'POST', '/customer', { name: 'Zoë' })).status).toBe(403);
    expect((await countsOf(world)).length).toBe(14);
    world.setNow('2026-11-21T11:00:00.000Z');
    await refuse(3);
    expect((await countsOf(world)).slice(14)).toEqual([1, 2, 3]);
  });

  it('at the limit of a key leave a few rows for each key', async ({ world, productId }) => {
    const newKey = async () => {
      const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '1' }) };
      await world.activate(address, 'host');
      return address;
    };
    for (const address of [await newKey(), await newKey()]) {
      for (let i = 0; i < 30; i += 1) {
        const headers = i % 2 === 0 ? {} : { 'Idempotency-Key': `${address.licenseKey}-${i}` };
        const body = { ...address, hostId: `host-${i}` };
        expect((await world.call('client', 'POST', '/key/activate', body, headers)).status).toBe(403);
      }
    }
    expect(await countsOf(world)).toHaveLength(22);
  });

  it('with a body that is no JSON leave nothing, and a body that is not valid its refusal', async ({ world }) => {
    const token = await world.tokenOf('admin');
    const send = (body: string, key: string, type = 'application/json') =>
      world.send('/product', {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': type, 'Idempotency-Key': key },
        body,
      });
    for (const [at, [body, type]] of [
      ['{', undefined],
      ['[['.repeat(40)],
      ['{}', 'text/plain'],
      ['\ud800'],
    ].entries()) {
      for (let round = 0; round < 2; round += 1) {
        const answer = await send(body ?? '', `unreadable-${at}`, type);
        expect([answer.status, answer.body.code, answer.headers['idempotency-replayed']]).toEqual([400, 1, undefined]);
      }
    }
    expect((await world.contents()).idempotency).toEqual([]);
    expect((await send('{}', 'invalid')).status).toBe(400);
    expect((await send('{}', 'invalid')).headers['idempotency-replayed']).toBe('true');
    // It was not taken: the request can be corrected under the same key.
    expect((await send('{"name":"Editor"}', 'unreadable-0')).status).toBe(201);
  });
});
