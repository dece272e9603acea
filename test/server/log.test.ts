import { describe, expect, it } from 'vitest';
import { listEndpoints } from '../../src/contract/index.ts';
import { mintToken } from '../../src/domain/token.ts';
import { createLog } from '../../src/server/log.ts';
import { type EndpointName, furnish, validRequests } from '../support/requests.ts';
import { pathWith } from '../support/scenario.ts';
import { createWorld, type Parsed } from '../support/world.ts';

describe('the log', () => {
  it('has one line for each request, which says who did what and how it ended', async () => {
    const log: Parsed[] = [];
    await using world = await createWorld({ logTo: { write: (line) => log.push(JSON.parse(line)) } });
    await world.tokenOf('admin');
    const [token] = await world.store.repositories.tokens.list(world.accounts.acme).part({ limit: 1 });

    await world.call('admin', 'POST', '/customer?note=1', { name: 'Acme' });
    await world.call('nobody', 'GET', '/customer');

    const line = { level: 30, time: expect.any(Number), ms: expect.any(Number), route: '/customer', msg: 'request' };
    expect(log).toEqual([
      {
        ...line,
        requestId: 'request-1',
        method: 'POST',
        status: 201,
        account: world.accounts.acme,
        token: token?.id,
      },
      { ...line, requestId: 'request-2', method: 'GET', status: 401, reason: 'invalidToken' },
    ]);
  });

  it('never holds a token, a key, a customer, a host, an address, a query or a body', async () => {
    const log: string[] = [];
    await using world = await createWorld({ logTo: { write: (line) => log.push(line) } });
    const own = await furnish(world);
    const guessed = mintToken('admin', new Uint8Array(32).fill(7));

    for (const as of ['admin', 'client', { token: guessed }, { token: 'CANARY-token' }] as const) {
      for (const { name, endpoint } of listEndpoints()) {
        const { query, body } = validRequests[name as EndpointName](own);
        await world.call(as, endpoint.method, pathWith(endpoint, query), body);
        await world.call(
          as,
          endpoint.method,
          `${pathWith(endpoint)}?CANARY=query`,
          endpoint.body && { CANARY: 'body' },
        );
      }
    }
    await world.call('admin', 'POST', '/customer', { name: 'CANARY name', email: 'CANARY@example.com' });
    await world.call('admin', 'POST', '/customer', { name: 'CANARY name', email: 'CANARY@example.com' });
    await world.call('admin', 'GET', '/CANARY-path?CANARY=query');
    await world.call('admin', 'DELETE', '/customer/by-id?customerId=CANARY-customer');
    for (const table of ['licenses', 'customers', 'tokens']) await world.breakTable(table);
    await world.call('admin', 'POST', '/create-key', { productId: own.productId, newCustomer: { name: 'CANARY' } });
    await world.call('admin', 'GET', `/key?productId=${own.productId}&licenseKey=${own.licenseKey}`);

    const text = log.join('');
    expect(text).toContain('"status":500');
    const secrets = [
      'CANARY',
      guessed,
      own.licenseKey,
      own.licenseKey.slice(0, 11),
      'Zoë',
      'zoe@example.com',
      'host-1',
      '203.0.113.7',
      `${await world.tokenOf('admin')}`,
      `${await world.tokenOf('client')}`,
      'PRIVATE KEY',
    ];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  it('names no request twice', async () => {
    const ids: string[] = [];
    await using world = await createWorld({ logTo: { write: (line) => ids.push(JSON.parse(line).requestId) } });
    const answers = await Promise.all([1, 2, 3].map(() => world.call('admin', 'GET', '/customer')));
    expect(answers.map(({ headers }) => headers['x-request-id']).sort()).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(3);
  });

  it('is one plain line for people who look on', async () => {
    const lines: string[] = [];
    const log = await createLog('pretty', { write: (line) => lines.push(line) });
    log.info({ requestId: 'request-1', method: 'GET', route: '/key', status: 200, ms: 3, token: 'tok_1' }, 'request');
    expect(lines).toEqual([expect.stringMatching(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request GET \/key 200 3ms\s*\n$/)]);
    log.info({ removed: 3 }, 'cleaned up');
    expect(lines.at(-1)).toMatch(/INFO: cleaned up\n/);
  });

  it('is silent when it is not wanted', async () => {
    const log = await createLog('none', { write: () => expect.unreachable() });
    log.error('a failure');
    expect(log.isLevelEnabled('error')).toBe(false);
  });
});
