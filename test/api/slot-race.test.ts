import { hash } from 'node:crypto';
import { expect } from 'vitest';
import { engineOf } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { query } from '../support/postgres.ts';
import { checkOut, signedBy } from '../support/sessions.ts';
import { expectSlots, promisedHosts } from '../support/slots.ts';
import type { As } from '../support/world.ts';
import { beside } from './at-once.ts';

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

it('one machine that comes under two names at once takes one slot', async ({ world, productId }) => {
  const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '5', fingerprintMatch: 1 }) };
  const fingerprint = { disk: hash('sha256', 'disk') };
  const activate = (hostId: string) =>
    world.call('client', 'POST', '/key/activate', { ...address, hostId, fingerprint });
  const locked = ['select 1 from licenses for update'];
  const activated = await beside(world, locked, () => [activate('host-1'), activate('host-2')], { waiting: 2 });
  expect(activated.map(({ status }) => status)).toEqual([200, 200]);
  expect(activated[0]?.body.device).toEqual(activated[1]?.body.device);
  expect(await query(world.location, 'select activations from licenses')).toEqual([{ activations: 1 }]);
});

it('a slot that is freed and promised at that moment goes to no stranger for nothing', async ({ world, productId }) => {
  const fields = { productId, usesPerKey: '1', customerCanSelfReset: false };
  const address = { productId, licenseKey: await world.key(fields) };
  await world.activate(address, 'host-1');
  const freed = [
    `update licenses set activations = 0, slot_year = 2026, promised_slots = 1`,
    `insert into slot_promises (account_id, license_id, host_id, calendar_year, promised_at)
      select account_id, license_id, host_id, 2026, created_at from devices`,
    'delete from devices',
    `delete from license_words where host_id <> ''`,
  ];
  // It was allowed by what it has seen: a slot that nobody had.
  await world.sql('update licenses set max_activations = 2');
  const activate = (hostId: string) => world.call('client', 'POST', '/key/activate', { ...address, hostId });
  const fewer = ['update licenses set max_activations = 1', ...freed];
  const [stranger] = await beside(world, fewer, () => [activate('host-2')]);
  expect([stranger?.status, stranger?.body.code]).toEqual([403, 12]);
  expect((await activate('host-1')).status).toBe(200);
  expectSlots(await world.contents());
});

it('a host that comes back and a stranger at once get its slot once', async ({ world, productId }) => {
  const address = { productId, licenseKey: await world.key({ productId, usesPerKey: '1' }) };
  const post = (path: string, hostId: string) => world.call('client', 'POST', path, { ...address, hostId });
  for (const path of ['/key/activate', '/deactivate-key']) expect((await post(path, 'host-1')).status).toBe(200);
  const locked = ['select 1 from licenses for update'];
  const want = () => [post('/key/activate', 'host-1'), post('/key/activate', 'host-2')];
  const answers = await beside(world, locked, want, { waiting: 2 });
  expect(answers.map(({ status, body }) => [status, body.code]).sort()).toEqual([
    [200, 0],
    [403, 3],
  ]);
  const contents = await world.contents();
  expectSlots(contents);
  expect(promisedHosts(contents)).toEqual([]);
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

  // While the licence is locked nobody gets further than looking for the new host, which none of them finds.
  const rebound = await beside(
    world,
    ['select 1 from licenses for update'],
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

it('a key that was replaced works while the key in its place is replaced at that moment', async ({
  world,
  productId,
}) => {
  const licenseKey = await world.key({ productId });
  const { body } = await world.call('admin', 'POST', '/key/reissue', { productId, licenseKey });
  // Another server replaces the second key too.
  const again = [
    `insert into previous_keys (account_id, license_key, license_id, valid_until)
      select account_id, license_key, id, '2027-01-01' from licenses`,
    `update licenses set license_key = 'the-third-key-of-a-licence'`,
  ];
  const change = (key: string) =>
    world.call('admin', 'PATCH', '/key', { productId, licenseKey: key, maxActivations: 9 });
  const changed = await beside(world, again, () => [change(licenseKey), change(body.key)], { waiting: 2 });
  expect(changed.map(({ status }) => status)).toEqual([200, 200]);
});

it('a plan does not take a name that another server gives to a plan at that moment', async ({ world, productId }) => {
  const { id } = (await world.call('admin', 'POST', '/plan', { productId, name: 'Basic' })).body.data;
  const other = [
    `insert into plans (account_id, id, product_id, name, active, terms, features, created_at, updated_at)
      select account_id, 'plan_2', product_id, 'Pro', active, terms, features, created_at, updated_at from plans`,
  ];
  const rename = () => world.call('admin', 'PUT', `/plan/by-id?planId=${id}`, { name: 'Pro' });
  const [answer] = await beside(world, other, () => [rename()]);
  expect(answer?.body).toEqual({ message: 'The product has a plan of this name', code: 18 });
});

it.for([
  `update licenses set vendor_disabled = 1`,
  `update licenses set vendor_disabled = 1, revoked_at = '2026-11-21T10:00:00.000Z'`,
  `update licenses set max_activations = 0`,
  'delete from licenses',
])('a trial that is ended at that moment is over: %s', async (end, { world, productId }) => {
  const plan = { productId, name: 'Trial', isTrial: true, duration: 'P14D', maxActivations: 1 };
  const { id: planId } = (await world.call('admin', 'POST', '/plan', plan)).body.data;
  const start = () => world.call('client', 'POST', '/key/trial', { productId, planId, hostId: 'host-1' });
  const address = { productId, licenseKey: (await start()).body.key };
  await world.call('admin', 'POST', '/deactivate-key', { ...address, hostId: 'host-1' });
  const [answer] = await beside(world, [end], () => [start()]);
  expect(answer?.body).toEqual({ message: 'This device has had its trial', code: 19 });
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
