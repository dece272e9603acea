import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { checkOut, type SessionKeys, signedBy } from '../support/sessions.ts';
import { type Address, createWorld } from '../support/world.ts';
import { tally, times } from './at-once.ts';

describe.each(engines)('many requests at once on $name', (engine) => {
  const it = testsOn(engine);

  it('free a device once', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId }) };
    await world.activate(address, 'host-1', 'host-2');
    const answers = await times(20, () =>
      world.call('admin', 'POST', '/deactivate-key', { ...address, hostId: 'host-1' }),
    );
    expect(tally(answers)).toEqual({ '200/0': 1, '404/1': 19 });
    expect(await world.license(address)).toMatchObject({ activations: 1 });
  });

  it('activate ten of fifty clients where there are ten slots', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '10' }) };
    const answers = await times(50, (i) =>
      world.call('client', 'POST', '/key/activate', { ...address, hostId: `host-${i}` }),
    );
    expect(tally(answers)).toEqual({ '200/0': 10, '403/3': 40 });
    const { activations, devices } = await world.license(address);
    expect([activations, devices.length]).toEqual([10, 10]);
  });

  it('of one host activate it once, whether they sign or activate', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '1' }) };
    const answers = await times(30, (i) =>
      world.call('client', 'POST', i % 2 === 0 ? '/key/activate' : '/key/sign', { ...address, hostId: 'host-1' }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const ids = answers.flatMap(({ body }) => body.device?.id ?? []);
    expect([ids.length, new Set(ids).size]).toEqual([15, 1]);
    expect(await world.license(address)).toMatchObject({ activations: 1 });
  });

  it.each<[what: string, method: string, path: string, more: object]>([
    ['freed', 'POST', '/deactivate-key', { hostId: 'host-1' }],
    ['freed with all others', 'POST', '/deactivate-key', {}],
    ['moved', 'POST', '/key/rebind', { hostId: 'host-1', newHostId: 'host-2' }],
  ])('leave no file that counts to a host whose slot is %s at that moment', async (_, method, path, more) => {
    await using world = await createWorld({ engine });
    const { id: productId } = await world.product();
    for (let round = 0; round < 20; round += 1) {
      const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '1' }) };
      await world.call('client', 'POST', '/key/activate', { ...address, hostId: 'host-1' });
      const sign = () => world.call('client', 'POST', '/key/sign', { ...address, hostId: 'host-1' });
      await Promise.all([sign(), world.call('admin', method, path, { ...address, ...more }), sign()]);
      const { body } = await world.call('admin', 'GET', `/key?${new URLSearchParams(address)}`);
      const { license, files } = body.data;
      const hosts = license.devices.map(({ hostId }: { hostId: string }) => hostId);
      const counting = files.filter(({ revokedAt }: { revokedAt: string | null }) => revokedAt === null);
      for (const { hostId } of counting) expect(hosts).toContain(hostId);
      expect(license.activations).toBe(hosts.length);
    }
  });

  it.for<[what: string, method: string, path: (address: Address) => string]>([
    ['blocked', 'POST', () => '/key/block'],
    ['deleted', 'DELETE', (address) => `/key?${new URLSearchParams({ ...address, force: 'true' })}`],
  ])(
    'leave no file of a key that is %s out of the revocation list',
    async ([what, method, path], { world, productId }) => {
      for (let round = 0; round < 20; round += 1) {
        const address = { productId, licenseKey: await world.key({ productId }) };
        await world.call('client', 'POST', '/key/activate', { ...address, hostId: 'host-1' });
        await world.call('nobody', 'GET', '/.well-known/revocations');
        const sign = (hostId: string) => world.call('client', 'POST', '/key/sign', { ...address, hostId });
        const end = () => world.call('admin', method, path(address), what === 'blocked' ? address : undefined);
        await Promise.all([sign('host-1'), end(), sign('host-2')]);
      }
      const { license_files: files = [] } = await world.contents();
      const { text } = await world.call('nobody', 'GET', '/.well-known/revocations');
      const list = JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString());
      for (const { id, license_id } of files)
        expect([...list.files, ...list.licenses]).toContain(what === 'deleted' ? id : license_id);
    },
  );

  it('move a slot to one of the hosts that want it, and no other', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '2' }) };
    await world.activate(address, 'host-0', 'host-1');
    const answers = await times(20, (i) =>
      world.call('admin', 'POST', '/key/rebind', { ...address, hostId: `host-${i % 2}`, newHostId: 'host-9' }),
    );
    const { '200/0': moved, ...others } = tally(answers);
    expect([moved, Object.keys(others).sort()]).toEqual([1, ['404/1', '409/8']]);
    const { activations, devices } = await world.license(address);
    expect([activations, devices.filter(({ hostId }) => hostId === 'host-9').length]).toEqual([2, 1]);
  });

  it('rebind three times in a year where customers do it', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '12' }) };
    await world.activate(address, ...Array.from({ length: 12 }, (_, i) => `host-${i}`));
    const answers = await times(12, (i) =>
      world.call('client', 'POST', '/key/rebind', { ...address, hostId: `host-${i}`, newHostId: `new-${i}` }),
    );
    expect(tally(answers)).toEqual({ '200/0': 3, '403/13': 9 });
  });

  it('lease ten of fifty clients a seat where there are ten', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId, licenseType: 'floating', maxConcurrentSessions: 10 });
    const address = { productId, licenseKey };
    const answers = await times(50, () => world.call('client', 'POST', '/key/checkout', address));
    expect(tally(answers)).toEqual({ '200/0': 10, '403/9': 40 });
    const left = answers.flatMap(({ status, body }) => (status === 200 ? [body.currentSessions] : []));
    expect(left.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('prolong, give back and lease the seats of a key, and never lease more than there are', async ({
    world,
    productId,
  }) => {
    const licenseKey = await world.key({ productId, licenseType: 'floating', maxConcurrentSessions: 10 });
    const address = { productId, licenseKey };
    const sessions = await times(10, () => checkOut(world, address));
    // Half of the leases end now; the other half was prolonged.
    world.setNow('2026-11-21T10:14:00.000Z');
    const beat = (session: SessionKeys) =>
      world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(session) });
    expect(tally(await Promise.all(sessions.slice(0, 5).map(beat)))).toEqual({ '200/0': 5 });
    world.setNow('2026-11-21T10:15:00.000Z');
    const answers = await Promise.all([
      ...sessions.slice(5).map(beat),
      ...Array.from({ length: 50 }, () => world.call('client', 'POST', '/key/checkout', address)),
    ]);
    expect(tally(answers)).toEqual({ '200/0': 5, '403/9': 45, '404/3': 5 });
    expect((await world.contents()).sessions).toHaveLength(10);
  });

  it('of one heartbeat are two that are answered, with the same nonce', async ({ world, productId }) => {
    const address = { productId, licenseKey: await world.key({ productId, licenseType: 'floating' }) };
    const session = await checkOut(world, address);
    const answers = await times(10, () =>
      world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(session) }),
    );
    expect(tally(answers)).toEqual({ '200/0': 2, '403/11': 8 });
    const nonces = answers.flatMap(({ body }) => body.nextNonce ?? []);
    expect([nonces.length, new Set(nonces).size]).toEqual([2, 1]);
  });

  it('give an e-mail address to one customer', async ({ world }) => {
    const answers = await times(20, (i) =>
      world.call('admin', 'POST', '/customer', { name: `n${i}`, email: 'zoe@example.com' }),
    );
    expect(tally(answers)).toEqual({ '201/0': 1, '409/2': 19 });
  });
});
