import { expect } from 'vitest';
import { type Afterwards, scenarios } from '../support/scenario.ts';
import type { Address } from '../support/world.ts';

interface Subject {
  /** A key of which two devices, host-1 and host-2, hold both slots. */
  readonly address: Address;
  readonly otherProductId: string;
}

const missing = { status: 400, code: 1, message: 'Missing required params' };
const notActivated = { status: 403, code: 2, message: 'License not activated' };
const notFound = { status: 404, code: 1, message: 'Device not found' };
/** The licence files of the hosts, which go on verifying for an hour. */
const filesOf = (...hostIds: readonly string[]) =>
  expect.arrayContaining(
    hostIds.map((hostId) => ({
      id: expect.stringMatching(/^fil_/),
      hostId,
      endsAt: '2026-11-21T11:00:00.000Z',
    })),
  );

const oneFreed = (hostId: string) => ({
  status: 200,
  body: { message: 'Device deactivated', files: filesOf(hostId), code: 0 },
});

const allFreed = (...hostIds: readonly string[]) => ({
  status: 200,
  body: { message: 'All devices deactivated', files: filesOf(...hostIds), code: 0 },
});

/** The hosts that the key is activated on, and what the licence counts. */
const leaves =
  (...hostIds: readonly string[]): Afterwards<Subject> =>
  async (world, { address }) => {
    const { activations, activated, devices } = await world.license(address);
    expect({ activations, activated, hostIds: devices.map(({ hostId }) => hostId).sort() }).toEqual({
      activations: hostIds.length,
      activated: hostIds.length > 0,
      hostIds,
    });
  };

scenarios<Subject>(
  'keys.deactivate',
  async (world) => {
    const { id: productId } = await world.product();
    const address = {
      productId,
      licenseKey: await world.key({ productId, usesPerKey: '2', customerCanSelfReset: true }),
    };
    await world.activate(address, 'host-1', 'host-2');
    return { address, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'frees the slot of one device',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: oneFreed('host-1'),
      wrote: { devices: -1, revocation_lists: 1 },
      afterwards: leaves('host-2'),
    },
    {
      name: 'lets another device take the freed slot',
      given: async (world, { address }) => {
        await world.call('client', 'POST', '/deactivate-key', { ...address, hostId: 'host-1' });
        await world.activate(address, 'host-3');
      },
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: oneFreed('host-2'),
      wrote: { devices: -1 },
      afterwards: leaves('host-3'),
    },
    {
      name: 'frees the slots of all devices without a hostId',
      as: 'admin',
      request: ({ address }) => ({ body: address }),
      expect: allFreed('host-1', 'host-2'),
      wrote: { devices: -2, revocation_lists: 1 },
      afterwards: leaves(),
    },
    {
      name: 'leaves the devices of other keys alone',
      given: async (world, { address: { productId } }) => {
        const address = { productId, licenseKey: await world.key({ productId }) };
        await world.activate(address, 'host-1', 'host-2', 'host-3');
        return { address };
      },
      as: 'admin',
      request: ({ address }) => ({ body: address }),
      expect: allFreed('host-1', 'host-2', 'host-3'),
      wrote: { devices: -3, revocation_lists: 1 },
      afterwards: leaves(),
    },
    {
      name: 'is open to a token that may activate and no more, and counts as a rebinding',
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: oneFreed('host-2'),
      wrote: { devices: -1, revocation_lists: 1, rebindings: 1 },
      afterwards: leaves('host-1'),
    },
    {
      name: 'frees no device for a token of kind client where the customer may not, which would move the slot',
      given: async (world, { address }) => {
        await world.call('admin', 'PATCH', '/key', { ...address, customerCanSelfReset: false });
      },
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: { status: 403, code: 12, message: 'Customers cannot rebind devices of this license' },
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'frees no fourth device in a year for a token of kind client, nor after rebindings',
      given: async (world, { address }) => {
        const move = async (path: string, body: object) =>
          expect((await world.call('client', 'POST', path, { ...address, ...body })).status).toBe(200);
        await move('/deactivate-key', { hostId: 'host-1' });
        await move('/key/activate', { hostId: 'host-3' });
        await move('/key/rebind', { hostId: 'host-3', newHostId: 'host-4' });
        await move('/deactivate-key', { hostId: 'host-4' });
        const { status } = await world.call('client', 'POST', '/key/rebind', {
          ...address,
          hostId: 'host-2',
          newHostId: 'host-5',
        });
        expect(status).toBe(403);
      },
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: { status: 403, code: 13, message: 'Rebind limit of this year reached' },
      afterwards: leaves('host-2'),
    },
    {
      name: 'refuses to free every device for a token of kind client, which has to name its own',
      as: 'client',
      request: ({ address }) => ({ body: address }),
      expect: missing,
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'gives a token of kind client no response that another token got for freeing every device',
      given: async (world, { address }) => {
        await world.call('admin', 'POST', '/deactivate-key', address, { 'Idempotency-Key': 'all' });
        await world.activate(address, 'host-3');
      },
      as: 'client',
      request: ({ address }) => ({ body: address, headers: { 'Idempotency-Key': 'all' } }),
      expect: missing,
      afterwards: leaves('host-3'),
    },
    {
      name: 'frees every device for a token that may activate and is not shipped',
      as: { scopes: ['license:activate'] },
      request: ({ address }) => ({ body: address }),
      expect: allFreed('host-1', 'host-2'),
      wrote: { devices: -2, revocation_lists: 1 },
      afterwards: leaves(),
    },
    {
      name: 'frees a device of a licence that has expired',
      at: '2027-11-21T10:00:00.000Z',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: { status: 200, body: { message: 'Device deactivated', code: 0 } },
      wrote: { devices: -1 },
      afterwards: leaves('host-2'),
    },
    {
      name: 'refuses a hostId that is null, rather than freeing every device',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: null } }),
      expect: missing,
    },
    {
      name: 'refuses a hostId that is empty, rather than freeing every device',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: '' } }),
      expect: missing,
    },
    {
      name: 'refuses a key without devices',
      given: async (world, { address: { productId } }) => ({
        address: { productId, licenseKey: await world.key({ productId }) },
      }),
      as: 'admin',
      request: ({ address }) => ({ body: address }),
      expect: notActivated,
    },
    {
      name: 'refuses a key without devices before it looks for the host',
      given: async (world, { address: { productId } }) => ({
        address: { productId, licenseKey: await world.key({ productId }) },
      }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: notActivated,
    },
    {
      name: 'refuses a key whose devices have all been freed',
      given: async (world, { address }) => {
        await world.call('admin', 'POST', '/deactivate-key', address);
      },
      as: 'admin',
      request: ({ address }) => ({ body: address }),
      expect: notActivated,
    },
    {
      name: 'refuses a key that the vendor has disabled',
      given: (world) => world.sql('update licenses set vendor_disabled = 1'),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: notActivated,
    },
    {
      name: 'refuses a host that is no device of the key',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: notFound,
    },
    {
      name: 'tells hosts apart by their case',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'HOST-1' } }),
      expect: notFound,
    },
    {
      name: 'refuses a device that is freed a second time',
      given: async (world, { address }) => {
        await world.call('admin', 'POST', '/deactivate-key', { ...address, hostId: 'host-1' });
      },
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: notFound,
    },
    {
      name: 'refuses a key that is not there',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, licenseKey: '00000-00000-00000-00000-00000' } }),
      expect: notFound,
    },
    {
      name: 'refuses a key of another product',
      as: 'admin',
      request: ({ address, otherProductId }) => ({ body: { ...address, productId: otherProductId } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that is not there',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, productId: 'prod_00000000000000000000000000' } }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'client', productIds: [otherProductId] }),
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: notFound,
    },
  ],
);
