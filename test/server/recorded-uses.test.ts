import { expect } from 'vitest';
import { test as it } from '../support/fixtures.ts';
import { allRecorded } from '../support/recorded.ts';
import { checkOut, signedBy } from '../support/sessions.ts';
import type { World } from '../support/world.ts';

/** Tells what each mutation has left in the record: its operation, and what subscribers are told. */
function reader(world: World) {
  const seen = new Set<string>();
  return async () => {
    const entries = await allRecorded(world);
    const added = entries.filter(({ id }) => !seen.has(id));
    for (const { id } of added) seen.add(id);
    return added.map(({ operation, resource, events }) => ({
      operation,
      resource,
      events: events.map(({ type, resource: about, data }) => ({ type, about, data })),
    }));
  };
}

it('using a key is recorded as what it did, without secrets', async ({ world, productId }) => {
  const licenseKey = await world.key({ productId, licenseType: 'floating', usesPerKey: '1' });
  const address = { productId, licenseKey };
  const { id: licenseId } = await world.license(address);
  const of = { licenseId, productId };
  const recorded = reader(world);
  await recorded();

  const activated = await world.call('admin', 'POST', '/key/activate', { ...address, hostId: 'host-1' });
  const device = { type: 'device', id: activated.body.device.id };
  expect(await recorded()).toEqual([
    {
      operation: 'keys.activate',
      resource: device,
      events: [{ type: 'device.activated', about: device, data: { ...of, hostId: 'host-1' } }],
    },
  ]);

  await world.call('admin', 'POST', '/key/activate', { ...address, hostId: 'host-1' });
  expect(await recorded()).toEqual([{ operation: 'keys.activate', resource: device, events: [] }]);

  await world.call('admin', 'POST', '/key/rebind', { ...address, hostId: 'host-1', newHostId: 'host-2' });
  const moved = { ...of, hostId: 'host-2', previousHostId: 'host-1', rebindingsOfYear: 1 };
  expect(await recorded()).toEqual([
    {
      operation: 'keys.rebind',
      resource: device,
      events: [{ type: 'device.rebound', about: device, data: moved }],
    },
  ]);

  const first = await checkOut(world, address, { hostId: 'host-1' });
  const about = { type: 'session', id: first.sessionId };
  const data = { ...of, hostId: 'host-1', expiresAt: '2026-11-21T10:15:00.000Z' };
  expect(await recorded()).toEqual([
    {
      operation: 'keys.checkout',
      resource: about,
      events: [{ type: 'session.checked_out', about, data }],
    },
  ]);

  await world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(first) });
  expect(await recorded()).toEqual([{ operation: 'keys.heartbeat', resource: about, events: [] }]);

  world.setNow('2026-11-21T10:15:00.000Z');
  const second = await checkOut(world, address);
  const about2 = { type: 'session', id: second.sessionId };
  const data2 = { ...of, hostId: null, expiresAt: '2026-11-21T10:30:00.000Z' };
  expect(await recorded()).toEqual([
    {
      operation: 'keys.checkout',
      resource: about2,
      events: [
        { type: 'session.checked_out', about: about2, data: data2 },
        { type: 'session.expired', about, data },
      ],
    },
  ]);

  await world.call('client', 'POST', '/key/checkin', { ...address, ...signedBy(second) });
  expect(await recorded()).toEqual([
    {
      operation: 'keys.checkin',
      resource: about2,
      events: [{ type: 'session.checked_in', about: about2, data: data2 }],
    },
  ]);

  const { sessionId } = await checkOut(world, address);
  await recorded();
  await world.call('admin', 'DELETE', `/session/by-id?sessionId=${sessionId}`);
  const about3 = { type: 'session', id: sessionId };
  expect(await recorded()).toEqual([
    {
      operation: 'sessions.delete',
      resource: about3,
      events: [{ type: 'session.checked_in', about: about3, data: { ...data2, released: true } }],
    },
  ]);

  const everything = JSON.stringify(await allRecorded(world));
  for (const secret of [licenseKey, first.sessionSecret, first.nextNonce]) expect(everything).not.toContain(secret);
});
