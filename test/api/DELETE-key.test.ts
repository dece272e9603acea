import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { scenarios } from '../support/scenario.ts';
import type { Address, World } from '../support/world.ts';

interface Subject {
  /** A floating key without devices and sessions. */
  readonly address: Address;
  readonly otherProductId: string;
}

const deleted = { status: 200, body: { action: 'keys.delete', status: true, code: 0 } };
const notFound = { status: 404, code: 1, message: 'License not found' };

/** Gives the key two devices and a session. */
async function use(world: World, { address }: Subject): Promise<void> {
  await world.activate(address, 'host-1', 'host-2');
  expect((await world.call('admin', 'POST', '/key/checkout', address)).status).toBe(200);
}

scenarios<Subject>(
  'keys.delete',
  async (world) => {
    const { id: productId } = await world.product();
    const licenseKey = await world.key({ productId, licenseType: 'floating', reference: 'order-1042' });
    const kept = { productId, licenseKey: await world.key({ productId }) };
    await world.activate(kept, 'host-1');
    return { address: { productId, licenseKey }, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'removes a key that nobody uses, and frees its reference',
      as: { scopes: ['license:write'] },
      request: ({ address }) => ({ query: { ...address } }),
      expect: deleted,
      wrote: { licenses: -1 },
      afterwards: async (world, { address }) => {
        const query = new URLSearchParams({ ...address });
        expect((await world.call('admin', 'GET', `/key?${query}`)).status).toBe(404);
        await world.key({ productId: address.productId, reference: 'order-1042' });
        const { events } = await recordedOf(world, 'keys.delete');
        expect(events).toEqual([
          {
            type: 'license.deleted',
            resource: { type: 'license', id: expect.stringMatching(/^lic_/) },
            data: expect.objectContaining({ productId: address.productId, devices: 0, sessions: 0 }),
          },
        ]);
      },
    },
    {
      name: 'refuses a key that is in use, and says by what',
      given: use,
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, force: 'false' } }),
      expect: { status: 409, code: 6, message: () => 'License is in use: 2 devices and 1 session' },
    },
    {
      name: 'removes it with its devices and sessions with force, and no others',
      given: use,
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, force: 'true' } }),
      expect: deleted,
      wrote: { licenses: -1, devices: -2, sessions: -1, revocation_lists: 1 },
      afterwards: async (world) => {
        const { events } = await recordedOf(world, 'keys.delete');
        expect(events).toEqual([
          expect.objectContaining({ data: expect.objectContaining({ devices: 2, sessions: 1 }) }),
        ]);
      },
    },
    {
      name: 'removes a key whose sessions have ended',
      given: async (world, { address }) => {
        await world.call('admin', 'POST', '/key/checkout', address);
      },
      at: '2026-11-21T10:15:00.000Z',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address } }),
      expect: deleted,
      wrote: { licenses: -1, sessions: -1 },
    },
    {
      name: 'removes a key whose updatedAt is as the caller says',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, ifUpdatedAt: '2026-11-21T10:00:00Z' } }),
      expect: deleted,
      wrote: { licenses: -1 },
    },
    {
      name: 'refuses a licence that was changed meanwhile, with force too',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, force: 'true', ifUpdatedAt: '2026-11-21T09:00:00Z' } }),
      expect: { status: 409, code: 5, message: () => 'It was changed meanwhile, at 2026-11-21T10:00:00.000Z' },
    },
    {
      name: 'refuses a force that is neither true nor false',
      as: 'admin',
      request: ({ address }) => ({ query: { ...address, force: '1' } }),
      expect: { status: 400, code: 1, message: 'Missing required params' },
    },
    {
      name: 'refuses a key of another account',
      as: 'other admin',
      request: ({ address }) => ({ query: { ...address } }),
      expect: notFound,
    },
    {
      name: 'refuses a key of another product',
      as: 'admin',
      request: ({ address, otherProductId }) => ({ query: { ...address, productId: otherProductId } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ scopes: ['license:write'], productIds: [otherProductId] }),
      request: ({ address }) => ({ query: { ...address } }),
      expect: notFound,
    },
  ],
);
