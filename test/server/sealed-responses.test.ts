import { existsSync, readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { cleanUp } from '../../src/server/jobs/cleanup.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import type { World } from '../support/world.ts';

const HOUR_MS = 60 * 60 * 1_000;

/** Everything that a database keeps, as one text: the bytes of a file and its log, or every row of every table. */
async function everythingIn({ location, contents }: Pick<World, 'location' | 'contents'>): Promise<string> {
  if (location.startsWith('postgres')) {
    const rows = Object.values(await contents()).flat();
    return rows.flatMap((row) => Object.values(row)).join('\n');
  }
  const files = [location, `${location}-wal`].filter((path) => existsSync(path));
  return files.map((path) => readFileSync(path, 'latin1')).join('\n');
}

describe.each(engines)('what stands under an idempotency key on $name', (engine) => {
  const it = testsOn(engine);

  it('holds neither the key nor the response in clear, before and after the cleanup', async ({ world, productId }) => {
    const under = (key: string) => ({ 'Idempotency-Key': key });
    const ci = { name: 'ci', kind: 'client' };
    const token = await world.call('admin', 'POST', '/token', ci, under('order-1001/token'));
    const created = await world.call('admin', 'POST', '/create-key', { productId }, under('order-1001/key'));
    const body = { productId, licenseKey: created.body.key, hostId: 'host-1' };
    const signed = await world.call('admin', 'POST', '/key/sign', body, under('order-1001/sign'));
    expect([token.status, created.status, signed.status]).toEqual([201, 200, 200]);

    const secrets = [token.body.data.token, created.text, signed.text.slice(0, 60), 'order-1001'];
    const expectNoSecret = async () => {
      const kept = await everythingIn(world);
      expect(kept).toContain(productId);
      expect(secrets.filter((secret) => kept.includes(secret))).toEqual([]);
    };
    await expectNoSecret();
    expect((await world.contents()).idempotency).toHaveLength(3);
    await cleanUp(world.store, Date.parse('2026-11-21T10:00:00.000Z') + 25 * HOUR_MS, {
      record: world.record,
      due: 'daily',
    });
    expect((await world.contents()).idempotency).toEqual([]);
    await expectNoSecret();
  });
});
