import { expect } from 'vitest';
import { type Afterwards, scenarios } from '../support/scenario.ts';
import { type Address, STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  /** A key of two slots, which expires on 21 December; host-1 holds one slot, as "desk". */
  readonly address: Address;
  readonly otherProductId: string;
}

const missing = { status: 400, code: 1, message: 'Missing required params' };
const notFound = { status: 404, code: 1, message: 'License not found' };

const activated = (
  device: Readonly<Record<string, unknown>>,
  counts: { readonly activations: number; readonly maxActivations?: number | null },
) => ({
  status: 200,
  body: {
    code: 0,
    message: 'Device activated',
    device: {
      id: expect.stringMatching(/^dev_[0-9a-z]{26}$/),
      deviceTag: 'No tag',
      ipAddress: '203.0.113.7',
      activationTime: STARTED_AT,
      ...device,
    },
    maxActivations: 2,
    ...counts,
  },
});

/** A key of the same product, with other fields. */
const another =
  (fields: Readonly<Record<string, unknown>>) =>
  async (world: World, { address: { productId } }: Subject) => ({
    address: { productId, licenseKey: await world.key({ productId, ...fields }) },
  });

const activate = (world: World, { address }: Subject, ...hostIds: readonly string[]): Promise<void> =>
  world.activate(address, ...hostIds);

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

scenarios<Subject>(
  'keys.activate',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer();
    const address = { productId, licenseKey: await world.key({ productId, customerId, usesPerKey: '2' }) };
    const body = { ...address, hostId: 'host-1', deviceTag: 'desk' };
    expect((await world.call('admin', 'POST', '/key/activate', body)).status).toBe(200);
    return { address, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'takes a slot for a new host',
      at: '2026-11-21T11:00:00.000Z',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2', deviceTag: 'lab' } }),
      expect: activated(
        { hostId: 'host-2', deviceTag: 'lab', activationTime: '2026-11-21T11:00:00.000Z' },
        { activations: 2 },
      ),
      wrote: { devices: 1 },
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'shows a token of kind client the device that it names, with its address masked',
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: activated({ hostId: 'host-2', ipAddress: '203.0.*.*' }, { activations: 2 }),
      wrote: { devices: 1 },
      absent: () => ['203.0.113', 'host-1'],
    },
    {
      name: 'answers alike for a host that holds a slot, and changes nothing',
      at: '2026-11-21T11:00:00.000Z',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1', deviceTag: 'another' } }),
      expect: activated({ hostId: 'host-1', deviceTag: 'desk' }, { activations: 1 }),
      afterwards: leaves('host-1'),
    },
    {
      name: 'answers alike for a host that holds a slot when no slot is free',
      given: (world, subject) => activate(world, subject, 'host-2'),
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: activated({ hostId: 'host-1', deviceTag: 'desk', ipAddress: '203.0.*.*' }, { activations: 2 }),
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'takes the slot that a licence file was signed for',
      given: (world, subject) => activate(world, subject, 'host-2'),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: activated({ hostId: 'host-2' }, { activations: 2 }),
    },
    {
      name: 'activates any number of devices without a limit',
      given: another({}),
      as: { scopes: ['license:activate'] },
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: activated({ hostId: 'host-9', ipAddress: '203.0.*.*' }, { activations: 1, maxActivations: null }),
      wrote: { devices: 1 },
    },
    {
      name: 'activates a host on the list of allowed ones',
      given: another({ allowedHosts: ['host-8', 'host-9'], usesPerKey: '2' }),
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: activated({ hostId: 'host-9' }, { activations: 1 }),
      wrote: { devices: 1 },
    },
    {
      name: 'refuses a third host when both slots are taken',
      given: (world, subject) => activate(world, subject, 'host-2'),
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-3' } }),
      expect: { status: 403, code: 3, message: 'Activation limit reached' },
      afterwards: leaves('host-1', 'host-2'),
    },
    {
      name: 'refuses a host that is not on the list of allowed ones',
      given: another({ allowedHosts: ['host-8'] }),
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-9' } }),
      expect: { status: 403, code: 4, message: 'Device not allowed' },
    },
    {
      name: 'refuses a licence from the instant of its expiry on, even for a host that holds a slot',
      at: '2026-12-21T10:00:00.000Z',
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: { status: 403, code: 5, message: 'License expired' },
    },
    {
      name: 'refuses a licence that the vendor has disabled, even for a host that holds a slot',
      given: (world) => world.sql('update licenses set vendor_disabled = 1'),
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-1' } }),
      expect: { status: 403, code: 6, message: 'License disabled' },
    },
    {
      name: 'refuses the licence of a customer that is not active',
      given: (world) => world.sql('update customers set active = 0'),
      as: 'client',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2' } }),
      expect: { status: 403, code: 7, message: 'Customer inactive' },
    },
    {
      name: 'refuses a deviceTag of 65 characters',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, hostId: 'host-2', deviceTag: 't'.repeat(65) } }),
      expect: missing,
    },
    {
      name: 'refuses a key that is not there',
      as: 'client',
      request: ({ address }) => ({
        body: { ...address, licenseKey: '00000-00000-00000-00000-00000', hostId: 'host-1' },
      }),
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
