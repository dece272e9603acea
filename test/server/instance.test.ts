import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { scopes } from '../../src/contract/scopes.ts';
import { openInstance } from '../../src/server/index.ts';
import { test as it } from '../support/fixtures.ts';
import { type Answer, readAnswer } from '../support/world.ts';

const clock = () => Date.parse('2026-11-21T10:00:00.000Z');

describe('openInstance', () => {
  it('makes a new database, whose owner may do everything', async ({ folder }) => {
    const instance = await openInstance({ db: join(folder.path, 'lkm.db'), clock });
    const self = await ask(instance, instance.ownerToken, '/token/self');
    await instance.close();
    expect(instance.created).toBe(true);
    // 256 random bits.
    expect(instance.ownerToken).toMatch(/^[\w-]{43}$/);
    const limits = { productIds: null, networks: null, maxIssues: null, issued: null, rateLimit: null };
    const times = { expiresAt: null, revokedAt: null, lastUsedOn: null, createdAt: '2026-11-21T10:00:00.000Z' };
    expect(self.body.data).toEqual({
      ...{ id: instance.accountId, name: 'owner of the database', kind: 'admin', scopes },
      ...limits,
      ...times,
    });
  });

  it('takes an owner’s token for itself only, and in full only', async ({ folder }) => {
    const first = await openInstance({ db: join(folder.path, 'a.db') });
    const second = await openInstance({ db: join(folder.path, 'b.db') });
    const statuses = [];
    for (const token of [first.ownerToken, first.ownerToken.slice(0, -1), '', second.ownerToken]) {
      statuses.push((await ask(second, token, '/customer')).status);
    }
    await first.close();
    await second.close();
    expect(statuses).toEqual([401, 401, 401, 200]);
  });

  it('is without limits', async ({ folder }) => {
    const instance = await openInstance({ db: join(folder.path, 'lkm.db') });
    const { headers } = await ask(instance, instance.ownerToken, '/customer');
    await instance.close();
    expect(Object.keys(headers).sort()).toEqual([
      'cache-control',
      'content-type',
      'x-content-type-options',
      'x-request-id',
    ]);
  });

  it('says in words why the database failed', async ({ db }) => {
    const instance = await openInstance({ db });
    expect(instance.failure).toBeNull();
    const other = new DatabaseSync(db);
    other.exec('begin immediate');
    const body = JSON.stringify({ name: 'Engine' });
    const headers = { authorization: `Bearer ${instance.ownerToken}`, 'content-type': 'application/json' };
    const request = new Request('http://127.0.0.1/product', { method: 'POST', headers, body });
    expect((await instance.fetch(request)).status).toBe(500);
    other.close();
    expect(instance.failure?.message).toBe(`${db} is in use by another program`);
    await instance.close();
  }, 20_000);
});

async function ask(
  { fetch }: { fetch: (request: Request) => Promise<Response> },
  token: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  return readAnswer(await fetch(new Request(`http://lkm.test${path}`, { headers, ...sent })));
}
