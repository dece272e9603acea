import { expect } from 'vitest';
import { type Afterwards, scenarios } from '../support/scenario.ts';
import { type Address, type As, STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  /** A key of two slots, both taken: by host-1, as "desk", and by host-2. Its customer may rebind its devices. */
  readonly address: Address;
  readonly otherProductId: string;
  /** The id of its first device. */
  readonly deviceId?: string | undefined;
}

const notFound = { status: 404, code: 1, message: 'License not found' };
const limited = { status: 403, code: 13, message: 'Rebind limit of this year reached' };

const rebound = (device: Readonly<Record<string, unknown>>) => ({
  status: 200,
  body: {
    code: 0,
    message: 'Device rebound',
    device: {
      id: expect.stringMatching(/^dev_[0-9a-z]{26}$/),
      hostId: 'host-9',
      deviceTag: 'desk',
      ipAddress: '203.0.113.7',
      activationTime: STARTED_AT,
      ...device,
    },
  },
});

const activate = async (world: World, address: Address, hostId: string, deviceTag?: string): Promise<void> => {
  const answer = await world.call('admin', 'POST', '/key/activate', { ...address, hostId, deviceTag });
  expect(answer.status).toBe(200);
};

/** A key of the same product on host-1, with other fields. */
const another =
  (fields: Readonly<Record<string, unknown>>) =>
  async (world: World, { address: { productId } }: Subject) => {
    const address = { productId, licenseKey: await world.key({ productId, ...fields }) };
    await activate(world, address, 'host-1', 'desk');
    return { address };
  };

/** Moves the slot of host-1 to and fro. */
const rebindOften =
  (as: As, ...hostIds: readonly string[]) =>
  async (world: World, { address }: Subject): Promise<void> => {
    let hostId = 'host-1';
    for (const newHostId of hostIds) {
      const { status } = await world.call(as, 'POST', '/key/rebind', { ...address, hostId, newHostId });
      expect(status).toBe(200);
      hostId = newHostId;
    }
  };

/** The hosts that then hold a slot, and what the licence counts. */
const leaves =
  (...hostIds: readonly string[]): Afterwards<Subject> =>
  async (world, { address }) => {
    const { activations, devices } = await world.license(address);
    expect({ activations, hostIds: devices.map((device) => device.hostId).sort() }).toEqual({
      activations: hostIds.length,
      hostIds,
    });
  };

const toHost9 = ({ address }: Subject) => ({ body: { ...address, hostId: 'host-1', newHostId: 'host-9' } });

scenarios<Subject>(
  'keys.rebind',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer();
    const licenseKey = await world.key({ productId, customerId, usesPerKey: '2', customerCanSelfReset: true });
    const address = { productId, licenseKey };
    await activate(world, address, 'host-1', 'desk');
    await activate(world, address, 'host-2');
    return { address, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'gives the slot of one host to another when all slots are taken',
      at: '2026-11-21T11:00:00.000Z',
      as: 'admin',
      request: toHost9,
      expect: rebound({ activationTime: '2026-11-21T11:00:00.000Z' }),
      wrote: { rebindings: 1 },
      afterwards: leaves('host-2', 'host-9'),
    },
    {
      name: 'keeps the id of the device, and takes a new tag',
      given: async (world, { address }) => {
        const [device] = (await world.license(address)).devices;
        return { deviceId: device?.id };
      },
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', newHostId: 'host-9', deviceTag: 'lab' } }),
      expect: rebound({ deviceTag: 'lab' }),
      wrote: { rebindings: 1 },
      afterwards: async (_world, { deviceId }, { body }) => {
        expect(body.device.id).toBe(deviceId);
      },
    },
    {
      name: 'lets a token of kind client rebind where the customer may, with the address masked',
      as: 'client',
      request: toHost9,
      expect: rebound({ ipAddress: '203.0.*.*' }),
      wrote: { rebindings: 1 },
      absent: () => ['host-2'],
      afterwards: leaves('host-2', 'host-9'),
    },
    {
      name: 'revokes the files of the old host, and says which of them still verify',
      given: (world, { address }) => world.activate(address, 'host-1', 'host-2'),
      as: 'admin',
      request: toHost9,
      expect: {
        status: 200,
        body: {
          ...rebound({}).body,
          files: [{ id: expect.stringMatching(/^fil_/), hostId: 'host-1', endsAt: '2026-11-21T11:00:00.000Z' }],
        },
      },
      wrote: { rebindings: 1, revocation_lists: 1 },
      afterwards: async (world) => {
        const { license_files: files } = await world.contents();
        const revoked = files?.filter(({ revoked_at }) => revoked_at !== null).map(({ host_id }) => host_id);
        expect(revoked).toEqual(['host-1']);
      },
    },
    {
      name: 'lets the old host activate no more when all slots are taken',
      as: 'admin',
      request: toHost9,
      expect: rebound({}),
      wrote: { rebindings: 1 },
      afterwards: async (world, { address }) => {
        const answer = await world.call('client', 'POST', '/key/activate', { ...address, hostId: 'host-1' });
        expect(answer.body).toEqual({ message: 'Activation limit reached', code: 3 });
      },
    },
    {
      name: 'lets a token of kind client rebind a third time in a year',
      given: rebindOften('client', 'host-3', 'host-1'),
      as: 'client',
      request: toHost9,
      expect: rebound({ ipAddress: '203.0.*.*' }),
      wrote: {},
      afterwards: leaves('host-2', 'host-9'),
    },
    {
      name: 'refuses a token of kind client a fourth time in a year',
      given: rebindOften('client', 'host-3', 'host-4', 'host-1'),
      at: '2026-12-20T23:59:59.999Z',
      as: 'client',
      request: toHost9,
      expect: limited,
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'counts what the vendor rebinds against the limit of the customer',
      given: rebindOften('admin', 'host-3', 'host-4', 'host-1'),
      as: 'client',
      request: toHost9,
      expect: limited,
    },
    {
      name: 'lets the vendor rebind beyond the limit',
      given: rebindOften('client', 'host-3', 'host-4', 'host-1'),
      as: { scopes: ['license:activate'] },
      request: toHost9,
      expect: rebound({ ipAddress: '203.0.*.*' }),
      wrote: {},
      afterwards: leaves('host-2', 'host-9'),
    },
    {
      name: 'counts anew with the first instant of the year, UTC',
      given: async (world, subject) => {
        const kept = await another({ customerCanSelfReset: true, expiryDate: null })(world, subject);
        await rebindOften('client', 'host-3', 'host-4', 'host-1')(world, { ...subject, ...kept });
        return kept;
      },
      at: '2027-01-01T00:00:00.000Z',
      as: 'client',
      request: toHost9,
      expect: rebound({ ipAddress: '203.0.*.*', activationTime: '2027-01-01T00:00:00.000Z' }),
      wrote: { rebindings: 1 },
    },
    {
      name: 'does not count a rebinding that was refused',
      given: async (world, { address }) => {
        for (let i = 0; i < 4; i += 1) {
          const body = { ...address, hostId: 'host-1', newHostId: 'host-2' };
          expect((await world.call('client', 'POST', '/key/rebind', body)).status).toBe(409);
        }
      },
      as: 'client',
      request: toHost9,
      expect: rebound({ ipAddress: '203.0.*.*' }),
      wrote: { rebindings: 1 },
    },
    {
      name: 'refuses a token of kind client where the customer may not',
      given: another({}),
      as: 'client',
      request: toHost9,
      expect: { status: 403, code: 12, message: 'Customers cannot rebind devices of this license' },
      afterwards: leaves('host-1'),
    },
    {
      name: 'lets the vendor rebind where the customer may not',
      given: another({}),
      as: 'admin',
      request: toHost9,
      expect: rebound({}),
      wrote: { rebindings: 1 },
    },
    {
      name: 'refuses a host that holds no slot',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-8', newHostId: 'host-9' } }),
      expect: { status: 404, code: 1, message: 'Device not found' },
    },
    {
      name: 'refuses a new host that holds a slot already',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', newHostId: 'host-2' } }),
      expect: { status: 409, code: 8, message: 'Host is activated already' },
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'refuses to move a slot to the host that holds it',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', newHostId: 'host-1' } }),
      expect: { status: 409, code: 8, message: 'Host is activated already' },
    },
    {
      name: 'refuses a new host that is not on the list of allowed ones',
      given: another({ allowedHosts: ['host-1', 'host-2'] }),
      as: 'admin',
      request: toHost9,
      expect: { status: 403, code: 4, message: 'Device not allowed' },
    },
    {
      name: 'refuses a licence from the instant of its expiry on',
      at: '2026-12-21T10:00:00.000Z',
      as: 'admin',
      request: toHost9,
      expect: { status: 403, code: 5, message: 'License expired' },
    },
    {
      name: 'refuses a licence that the vendor has disabled',
      given: (world) => world.sql('update licenses set vendor_disabled = 1'),
      as: 'admin',
      request: toHost9,
      expect: { status: 403, code: 6, message: 'License disabled' },
    },
    {
      name: 'refuses the licence of a customer that is not active',
      given: (world) => world.sql('update customers set active = 0'),
      as: 'admin',
      request: toHost9,
      expect: { status: 403, code: 7, message: 'Customer inactive' },
    },
    {
      name: 'refuses a key that is not there',
      as: 'client',
      request: ({ address }) => ({
        body: { ...address, licenseKey: '00000-00000-00000-00000-00000', hostId: 'host-1', newHostId: 'host-9' },
      }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'client', productIds: [otherProductId] }),
      request: toHost9,
      expect: notFound,
    },
  ],
);
