import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/server/log.ts';
import { createWorld, type Parsed } from '../support/world.ts';

describe('the log', () => {
  it('has one line for each request, which says who did what and how it ended', async () => {
    const log: Parsed[] = [];
    await using world = await createWorld({ logTo: { write: (line) => log.push(JSON.parse(line)) } });
    await world.tokenOf('admin');
    const [token] = await world.store.repositories.tokens.list(world.accounts.acme).part({ limit: 1 });

    const first = await world.call('admin', 'POST', '/customer?note=1', { name: 'Acme' });
    const second = await world.call('nobody', 'GET', '/customer');
    expect([first, second].map(({ headers }) => headers['x-request-id'])).toEqual(['request-1', 'request-2']);

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
    expect(() => log.error('a failure')).not.toThrow();
  });
});
