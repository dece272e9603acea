import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { row, scenarios } from '../support/scenario.ts';
import { type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import type { World } from '../support/world.ts';

const blocked = { body: { message: 'License blocked', code: 0 } };
const unblocked = { body: { message: 'License unblocked', code: 0 } };

const table = { given: shopWith({}, 'host-1'), body: ({ address }: Shop) => address };

async function block(world: World, { address }: Shop): Promise<void> {
  expect((await world.call('admin', 'POST', '/key/block', address)).status).toBe(200);
}

scenarios<Shop>('keys.block', table, [
  row('disables the key, leaves its device its slot, and keeps the note in the record', blocked, {
    send: { note: 'chargeback' },
    at: '2026-11-21T11:00:00.000Z',
    as: { scopes: ['license:write'] },
    wrote: { revocation_lists: 1 },
    afterwards: async (world, { address, customerId }) => {
      const license = await world.license(address);
      expect(license).toMatchObject({
        vendorDisabled: true,
        activated: false,
        activations: 1,
        updatedAt: '2026-11-21T11:00:00.000Z',
      });
      const signed = await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1' });
      expect(signed.body).toEqual({ message: 'License disabled', code: 6 });
      const resource = { type: 'license', id: license.id };
      // The note is for the vendor: subscribers are not told.
      const data = { customerId, key: expect.stringMatching(/^\*/), productId: address.productId };
      expect(await recordedOf(world, 'keys.block')).toEqual({
        resource,
        details: expect.objectContaining({ note: 'chargeback' }),
        events: [{ type: 'license.blocked', resource, data }],
      });
    },
  }),
  row('answers the same again, changes nothing and tells nobody, and keeps that note too', blocked, {
    send: { note: 'again' },
    given: block,
    at: '2026-11-21T11:00:00.000Z',
    afterwards: async (world) =>
      expect(await recordedOf(world, 'keys.block')).toMatchObject({ events: [], details: { note: 'again' } }),
  }),
  ...unknownKeys(),
]);

scenarios<Shop>('keys.unblock', table, [
  row('makes a blocked key usable again', unblocked, {
    send: { ifUpdatedAt: '2026-11-21T10:00:00.001Z' },
    given: block,
    at: '2026-11-21T11:00:00.000Z',
    wrote: {},
    afterwards: async (world, { address }) => {
      expect(await world.license(address)).toMatchObject({ vendorDisabled: false, activated: true });
      await world.activate(address, 'host-1');
      const { events } = await recordedOf(world, 'keys.unblock');
      expect(events).toEqual([expect.objectContaining({ type: 'license.unblocked' })]);
    },
  }),
  row('answers the same for a key that is not blocked', unblocked, {
    afterwards: async (world) => expect((await recordedOf(world, 'keys.unblock')).events).toEqual([]),
  }),
  ...unknownKeys(),
]);
