import { expect } from 'vitest';
import { test as it } from '../support/fixtures.ts';
import { allRecorded } from '../support/recorded.ts';
import { checkOut, signedBy } from '../support/sessions.ts';

it('using a key is recorded as what it did, without secrets', async ({ world, productId }) => {
  const licenseKey = await world.key({ productId, licenseType: 'floating', usesPerKey: '1' });
  const address = { productId, licenseKey };
  const { id: licenseId } = await world.license(address);
  let seen = (await allRecorded(world)).length;

  /** Expects what the last request has left: its operation, what it is about, and what subscribers are told. */
  async function expectRecorded(operation: string, resource: object, ...events: readonly [string, object, object?][]) {
    const added = (await allRecorded(world)).slice(seen);
    seen += added.length;
    const told = events.map(([type, data, about = resource]) => {
      return { type, resource: about, data: { licenseId, productId, ...data } };
    });
    expect(added.map((row) => [row.operation, row.resource, row.events])).toEqual([
      [operation, resource, told.map((event) => ({ id: expect.any(String), ...event }))],
    ]);
  }

  const host = { ...address, hostId: 'host-1' };
  const activated = await world.call('admin', 'POST', '/key/activate', host);
  const device = { type: 'device', id: activated.body.device.id };
  await expectRecorded('keys.activate', device, ['device.activated', { hostId: 'host-1' }]);
  await world.call('admin', 'POST', '/key/activate', host);
  await expectRecorded('keys.activate', device);
  await world.call('admin', 'POST', '/key/rebind', { ...host, newHostId: 'host-2' });
  const moved = { hostId: 'host-2', previousHostId: 'host-1' };
  await expectRecorded('keys.rebind', device, ['device.rebound', moved]);

  const first = await checkOut(world, address, { hostId: 'host-1' });
  const about = { type: 'session', id: first.sessionId };
  const lease = { hostId: 'host-1', expiresAt: '2026-11-21T10:15:00.000Z' };
  await expectRecorded('keys.checkout', about, ['session.checked_out', lease]);
  await world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(first) });
  await expectRecorded('keys.heartbeat', about);

  world.setNow('2026-11-21T10:15:00.000Z');
  const second = await checkOut(world, address);
  const other = { type: 'session', id: second.sessionId };
  const later = { hostId: null, expiresAt: '2026-11-21T10:30:00.000Z' };
  const expired = ['session.expired', lease, about] as const;
  await expectRecorded('keys.checkout', other, ['session.checked_out', later], [...expired]);
  await world.call('client', 'POST', '/key/checkin', { ...address, ...signedBy(second) });
  await expectRecorded('keys.checkin', other, ['session.checked_in', later]);

  const { sessionId } = await checkOut(world, address);
  seen = (await allRecorded(world)).length;
  await world.call('admin', 'DELETE', `/session/by-id?sessionId=${sessionId}`);
  const third = { type: 'session', id: sessionId };
  await expectRecorded('sessions.delete', third, ['session.checked_in', { ...later, released: true }]);

  const everything = JSON.stringify(await allRecorded(world));
  for (const secret of [licenseKey, first.sessionSecret, first.nextNonce]) expect(everything).not.toContain(secret);
});
