import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { type Scenario, scenarios } from '../support/scenario.ts';
import type { Address, World } from '../support/world.ts';

interface Subject {
  /** A key that host-1 uses. */
  readonly address: Address;
  readonly otherProductId: string;
}

const blocked = { status: 200, body: { message: 'License blocked', code: 0 } };
const unblocked = { status: 200, body: { message: 'License unblocked', code: 0 } };
const notFound = { status: 404, code: 1, message: 'License not found' };

async function furnish(world: World): Promise<Subject> {
  const { id: productId } = await world.product();
  const address = { productId, licenseKey: await world.key({ productId }) };
  await world.activate(address, 'host-1');
  return { address, otherProductId: (await world.product('Viewer')).id };
}

async function block(world: World, { address }: Subject): Promise<void> {
  expect((await world.call('admin', 'POST', '/key/block', address)).status).toBe(200);
}

/** The refusals of both. */
const refusals: readonly Scenario<Subject>[] = [
  {
    name: 'refuses a licence that was changed meanwhile',
    as: 'admin',
    request: ({ address }) => ({ body: { ...address, ifUpdatedAt: '2026-11-21T09:00:00Z' } }),
    expect: { status: 409, code: 5, message: () => 'It was changed meanwhile, at 2026-11-21T10:00:00.000Z' },
  },
  {
    name: 'refuses a note of 501 characters',
    as: 'admin',
    request: ({ address }) => ({ body: { ...address, note: 'x'.repeat(501) } }),
    expect: { status: 400, code: 1, message: 'Missing required params' },
  },
  {
    name: 'refuses a key of another account',
    as: 'other admin',
    request: ({ address }) => ({ body: address }),
    expect: notFound,
  },
  {
    name: 'refuses a product that the token may not touch as one that is not there',
    as: ({ otherProductId }) => ({ scopes: ['license:write'], productIds: [otherProductId] }),
    request: ({ address }) => ({ body: address }),
    expect: notFound,
  },
];

scenarios<Subject>('keys.block', furnish, [
  {
    name: 'disables the key, leaves its device its slot, and keeps the note in the record',
    at: '2026-11-21T11:00:00.000Z',
    as: { scopes: ['license:write'] },
    request: ({ address }) => ({ body: { ...address, note: 'chargeback' } }),
    expect: blocked,
    wrote: { revocation_lists: 1 },
    afterwards: async (world, { address }) => {
      const license = await world.license(address);
      expect(license).toMatchObject({
        vendorDisabled: true,
        activated: false,
        activations: 1,
        updatedAt: '2026-11-21T11:00:00.000Z',
      });
      const signed = await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1' });
      expect(signed.body).toEqual({ message: 'License disabled', code: 6 });
      expect(await recordedOf(world, 'keys.block')).toEqual({
        resource: { type: 'license', id: license.id },
        details: expect.objectContaining({ note: 'chargeback' }),
        events: [
          {
            type: 'license.blocked',
            resource: { type: 'license', id: license.id },
            // The note is for the vendor: subscribers are not told.
            data: { customerId: null, key: expect.stringMatching(/^\*/), productId: address.productId },
          },
        ],
      });
    },
  },
  {
    name: 'answers the same again, changes nothing and tells nobody, and keeps that note too',
    given: block,
    at: '2026-11-21T11:00:00.000Z',
    as: 'admin',
    request: ({ address }) => ({ body: { ...address, note: 'again' } }),
    expect: blocked,
    afterwards: async (world) => {
      expect(await recordedOf(world, 'keys.block')).toMatchObject({ events: [], details: { note: 'again' } });
    },
  },
  ...refusals,
]);

scenarios<Subject>('keys.unblock', furnish, [
  {
    name: 'makes a blocked key usable again',
    given: block,
    at: '2026-11-21T11:00:00.000Z',
    as: 'admin',
    request: ({ address }) => ({ body: { ...address, ifUpdatedAt: '2026-11-21T10:00:00.001Z' } }),
    expect: unblocked,
    wrote: {},
    afterwards: async (world, { address }) => {
      expect(await world.license(address)).toMatchObject({ vendorDisabled: false, activated: true });
      await world.activate(address, 'host-1');
      const { events } = await recordedOf(world, 'keys.unblock');
      expect(events).toEqual([expect.objectContaining({ type: 'license.unblocked' })]);
    },
  },
  {
    name: 'answers the same for a key that is not blocked',
    as: 'admin',
    request: ({ address }) => ({ body: address }),
    expect: unblocked,
    afterwards: async (world) => expect((await recordedOf(world, 'keys.unblock')).events).toEqual([]),
  },
  ...refusals,
]);
