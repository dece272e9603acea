import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { type Answer, createWorld, type World } from '../support/world.ts';

const serverError = { status: 500, body: { message: 'Server error', code: 1 } };

const seen = ({ status, body }: Answer) => ({ status, body });

describe.each(engines)('a failure inside, on $name,', (engine) => {
  const it = testsOn(engine);

  it.each<[string, (world: World) => Promise<void>, string, string, unknown]>([
    ['a table is gone', (world) => world.breakTable('customers'), 'GET', '/customer', undefined],
    ['a table is gone', (world) => world.breakTable('customers'), 'POST', '/customer', { name: 'CANARY' }],
    ['the tokens are gone', (world) => world.breakTable('tokens'), 'GET', '/customer', undefined],
    ['the database is closed', (world) => world.store.close(), 'GET', '/customer', undefined],
    ['the database is closed', (world) => world.store.close(), 'POST', '/customer', { name: 'CANARY' }],
  ])('when %s (%#) tells the caller no more than that', async (_, spoil, method, path, body) => {
    const log: string[] = [];
    await using world = await createWorld({ engine, logTo: { write: (line) => log.push(line) } });
    const token = await world.tokenOf('admin');
    await spoil(world);

    const answer = await world.call('admin', method, path, body);

    expect(seen(answer)).toEqual(serverError);
    expect(
      Object.keys(answer.headers).filter((name) => !/^(lkm-idempotency-key$|ratelimit|x-request-id)/.test(name)),
    ).toEqual(['cache-control', 'content-type', 'x-content-type-options']);
    const errors = log.map((line) => JSON.parse(line)).filter(({ level }) => level === 50);
    expect(errors).toHaveLength(1);
    expect(['CANARY', `${token}`, '203.0.113.7'].filter((secret) => log.join('').includes(secret))).toEqual([]);
    expect(errors[0]).toMatchObject({ msg: 'request failed', err: { stack: expect.stringContaining('at ') } });
  });

  it('of a page tells the caller no more than that, and the log why', async () => {
    const log: string[] = [];
    const taken = { allowed: true, emptyAt: 0, now: 0 };
    const publicCounter = { take: () => Promise.reject(new Error('counts are gone')), look: () => taken };
    await using world = await createWorld({ engine, publicCounter, logTo: { write: (line) => log.push(line) } });
    expect(seen(await world.call('nobody', 'GET', '/openapi.json'))).toEqual(serverError);
    expect(JSON.parse(log[0] ?? '')).toMatchObject({
      level: 50,
      msg: 'request failed',
      err: { message: 'counts are gone' },
    });
  });

  it('makes the service not ready, and says no more than that', async () => {
    const log: string[] = [];
    await using world = await createWorld({ engine, logTo: { write: (line) => log.push(line) } });
    await world.breakTable('accounts');
    const answer = await world.call('nobody', 'GET', '/ready');
    expect(seen(answer)).toEqual({ status: 503, body: { message: 'Service unavailable', code: 1 } });
    expect(JSON.parse(log[0] ?? '')).toMatchObject({ level: 50, msg: 'not ready' });
  });

  it('fails one request, not the next', async ({ world }) => {
    await world.breakTable('customers');
    expect(seen(await world.call('admin', 'POST', '/customer', { name: 'Acme' }))).toEqual(serverError);
    await world.sql('alter table customers_gone rename to customers');
    expect((await world.call('admin', 'POST', '/customer', { name: 'Acme' })).status).toBe(201);
  });

  it('fails a request whose transaction was lost, and no other of the same moment', async ({ world, productId }) => {
    await world.breakTable('customers');
    const answers = await Promise.all([
      world.call('admin', 'POST', '/create-key', { productId }),
      world.call('admin', 'POST', '/customer', { name: 'Acme' }),
      world.call('admin', 'POST', '/create-key', { productId }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 500, 200]);
  });
});
