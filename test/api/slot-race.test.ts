import { expect } from 'vitest';
import { beside } from '../support/at-once.ts';
import { engineOf } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { query } from '../support/postgres.ts';
import { checkOut, signedBy } from '../support/sessions.ts';
import type { As } from '../support/world.ts';

const it = testsOn(engineOf('PostgreSQL'));

it('requests of one host that lose the race for its device give their slots back', async ({ world, productId }) => {
  const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '5' }) };
  const sign = (hostId: string) => world.call('admin', 'POST', '/key/sign', { ...address, hostId });

  // While the licence is locked nobody gets further than looking for the device, which none of them finds.
  const signed = await beside(
    world,
    ['select 1 from licenses for update'],
    () => Array.from({ length: 30 }, () => sign('host-1')),
    { waiting: 3 },
  );

  expect(signed.map(({ status }) => status)).toEqual(Array(30).fill(200));
  expect(await query(world.location, 'select activations from licenses')).toEqual([{ activations: 1 }]);
  const others = [];
  for (const hostId of ['host-2', 'host-3', 'host-4', 'host-5', 'host-6']) others.push((await sign(hostId)).status);
  expect(others).toEqual([200, 200, 200, 200, 403]);
});

it('a key that is blocked at that moment gives no slot', async ({ world, productId }) => {
  const address = { productId, licenseKey: await world.key({ productId }) };
  const block = ['update licenses set vendor_disabled = 1'];
  const activate = () => world.call('client', 'POST', '/key/activate', { ...address, hostId: 'host-1' });
  const [answer] = await beside(world, block, () => [activate()]);
  expect(answer?.body).toEqual({ message: 'License disabled', code: 6 });
  expect((await world.license(address)).activations).toBe(0);
});

it('two devices that are rebound to one host at once do not both get there', async ({ world, productId }) => {
  const address = { productId, licenseKey: await world.key({ productId }) };
  await world.activate(address, 'host-0', 'host-1');
  const rebind = (hostId: string, newHostId: string) =>
    world.call('admin', 'POST', '/key/rebind', { ...address, hostId, newHostId });
  expect((await rebind('host-0', 'host-2')).status).toBe(200);

  // While the count is locked nobody gets further than looking for the new host, which none of them finds.
  const rebound = await beside(
    world,
    ['select 1 from rebindings for update'],
    () => [rebind('host-1', 'host-9'), rebind('host-2', 'host-9')],
    { waiting: 2 },
  );
  expect(rebound.map(({ status, body }) => [status, body.code]).sort()).toEqual([
    [200, 0],
    [409, 8],
  ]);
});

it('two heartbeats that sign one nonce at once are told the same next one', async ({ world, productId }) => {
  const address = { productId, licenseKey: await world.key({ productId, licenseType: 'floating' }) };
  const session = await checkOut(world, address);
  const beat = (keys = session) => world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(keys) });

  const locked = ['select 1 from sessions for update'];
  const [first, second] = await beside(world, locked, () => [beat(), beat()], { waiting: 2 });
  expect(first?.status).toBe(200);
  expect(second?.body).toEqual(first?.body);
  expect((await beat({ ...session, nextNonce: first?.body.nextNonce })).status).toBe(200);
});

it('a product keeps a name that another server commits while its state is changed', async ({ world, productId }) => {
  const path = `/product/by-id?productId=${productId}`;
  const [updated] = await beside(world, [`update products set name = 'Viewer'`], () => [
    world.call('admin', 'PUT', path, { active: false }),
  ]);
  expect(updated?.body.data).toMatchObject({ name: 'Viewer', active: false });
  expect((await world.call('admin', 'GET', path)).body.data).toMatchObject({ name: 'Viewer', active: false });
});

it('two admins that revoke each other at once leave one', async ({ world }) => {
  const pair: readonly As[] = ['admin', { kind: 'admin', expiresAt: '2027-11-21T10:00:00.000Z' }];
  const self = (as: As) => world.call(as, 'GET', '/token/self');
  const paths = [];
  for (const as of pair) paths.push(`/token/by-id?tokenId=${(await self(as)).body.data.id}`);
  const [first = '', second = ''] = paths;
  // While the tokens are locked nobody gets further than looking for another admin.
  const revoke = () => [world.call('admin', 'DELETE', second), world.call(pair[1] ?? 'nobody', 'DELETE', first)];
  const answers = await beside(world, ['select 1 from tokens for update'], revoke, { waiting: 2 });
  expect(answers.map(({ status, body }) => [status, body.code]).sort()).toEqual([
    [200, 0],
    [409, 11],
  ]);
  const alive = await Promise.all(pair.map(self));
  expect(alive.map(({ status }) => status).sort()).toEqual([200, 401]);
});
