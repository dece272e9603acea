import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { row, scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import type { World } from '../support/world.ts';

const deleted = { body: { action: 'keys.delete', status: true, code: 0 } };

/** Gives the key two devices and a session. */
async function use(world: World, { address }: Shop): Promise<void> {
  await world.activate(address, 'host-1', 'host-2');
  await checkOut(world, address);
}

/** What subscribers are told of the deletion. */
const told = async (world: World) => (await recordedOf(world, 'keys.delete')).events;

scenarios<Shop>(
  'keys.delete',
  {
    // Nobody uses it, beside another one in use.
    given: async (world) => {
      const shop = await shopWith({ licenseType: 'floating', reference: 'order-1042' })(world);
      const { productId } = shop.address;
      await world.activate({ productId, licenseKey: await world.key({ productId }) }, 'host-1');
      return shop;
    },
    query: ({ address }) => ({ ...address }),
    wrote: { licenses: -1 },
  },
  [
    row('refuses a key that is in use, and says by what', ['inUse', 'License is in use: 2 devices and 1 session'], {
      send: { force: 'false' },
      given: use,
    }),
    row('removes it with its devices and sessions with force, and no others', deleted, {
      send: { force: 'true' },
      given: use,
      wrote: { licenses: -1, devices: -2, sessions: -1, revocation_lists: 1 },
      afterwards: async (world) => expect(await told(world)).toMatchObject([{ data: { devices: 2, sessions: 1 } }]),
    }),
    ...unknownKeys(),
  ],
);
