import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOW, person } from './fake-io.ts';
import { openShop } from './shop.ts';

const DAY = 86_400_000;

/** Two keys: the devices of the first were seen 200 and 10 days ago, that of the second 100 days ago. */
async function openDevices() {
  const shop = await openShop();
  const { names, at, answer } = shop;
  names.KEY = await answer('keys create --expires never');
  names.OTHER = await answer('keys create --expires never');
  const use = async (line: string, days: number) =>
    expect((await at(`keys activate ${line}`, { now: NOW - days * DAY })).code).toBe(0);
  await use('KEY --host-id old-pc', 200);
  await use('OTHER --host-id laptop', 100);
  await use('KEY --host-id new-pc', 10);
  return shop;
}

describe('devices that nobody uses', () => {
  it('are listed, of all keys or of one', async () => {
    const { answer } = await openDevices();
    expect(await answer('devices list -q')).toBe('old-pc\nlaptop\nnew-pc');
    expect(await answer('devices list --stale 90d -q')).toBe('old-pc\nlaptop');
    expect(await answer('devices list --stale 150d -q')).toBe('old-pc');
    expect(await answer('devices list OTHER --stale 90d -q')).toBe('laptop');
    expect(await answer('devices list OTHER --stale 150d -q')).toBe('');
    expect(await answer('devices list --stale 90d --limit 1 -q')).toBe('old-pc');
    expect(await answer('devices list --stale 2026-11-11 -q')).toBe('old-pc\nlaptop');
    expect(await answer('devices list --stale 2026-11-12 -q')).toBe('old-pc\nlaptop\nnew-pc');
  });

  it('are freed once that is confirmed, and no others', async () => {
    const { at, answer, names } = await openDevices();
    const dry = await at('devices release --stale 90d --dry-run --json');
    expect(JSON.parse(dry.stdout)).toMatchObject([{ hostId: 'old-pc', licenseKey: names.KEY }, { hostId: 'laptop' }]);
    expect((await at('devices release --stale 90d --dry-run')).stderr).toBe('would free 2 devices; nothing was sent\n');
    const unconfirmed = await at('devices release --stale 90d');
    expect(unconfirmed).toMatchObject({ code: 3, stdout: '' });
    expect(await answer('devices list -q')).toBe('old-pc\nlaptop\nnew-pc');

    const freed = await at('devices release --stale 90d --yes --json');
    expect(freed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(freed.stdout)).toMatchObject([
      { hostId: 'old-pc', freed: true, error: null },
      { hostId: 'laptop', freed: true, error: null },
    ]);
    expect(await answer('devices list -q')).toBe('new-pc');
    expect((await at('devices release --stale 90d --yes')).stderr).toContain('no device to free');
  });

  it('are told apart from those that an import brought, which lkm has never seen', async () => {
    const { at } = await openDevices();
    const devices = [{ hostId: 'moved-pc', activationTime: '2025-01-01T00:00:00.000Z' }];
    const stdin = JSON.stringify({ productId: 'Engine', key: 'ABCD-1234-EFGH', devices });
    expect((await at('keys import -f - -y', { stdin })).code).toBe(0);
    const told = 'imported and not seen since, so they may be in use: 1\n';
    const dry = await at('devices release --stale 90d --dry-run');
    expect(dry.stderr).toBe(`warning: ${told}would free 3 devices; nothing was sent\n`);
    const asked = await at('devices release --stale 90d', {
      terminal: true,
      prompter: person({ confirm: async () => false }),
    });
    expect(asked.stderr).toContain(`3 devices of 3 keys, not seen since 2026-08-23\n  ${told}`);
  });

  it('are not freed without the keys that they hold', async () => {
    const { cwd, at, answer } = await openDevices();
    const scopes = '--scope license:read --scope license:activate';
    const token = await answer(`tokens create --name desk --kind scoped ${scopes} -q`);
    writeFileSync(join(cwd, 'token'), token, { mode: 0o600 });
    const { code, stderr } = await at('devices release --stale 90d --yes --token-file token');
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('license:reveal') });
    expect(await answer('devices list -q')).toBe('old-pc\nlaptop\nnew-pc');
  });

  it('leave keys that nobody uses', async () => {
    const { answer, names } = await openDevices();
    expect(await answer('keys list --unseen-for 90d -q')).toBe(names.OTHER);
    const both = (await answer('keys list --unseen-for 9d -q')).split('\n');
    expect(both.toSorted()).toEqual([names.OTHER, names.KEY].toSorted());
  });

  it('need a length of time or a day', async () => {
    const { at } = await openDevices();
    expect((await at('devices list --stale soon')).code).toBe(2);
    expect((await at('devices release --yes')).code).toBe(2);
  });
});
