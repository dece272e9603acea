import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { type Afterwards, scenarios } from '../support/scenario.ts';
import type { Address, World } from '../support/world.ts';

interface Subject {
  /** A key of Zoë's, which host-1 uses. */
  readonly address: Address;
  readonly customerId: string;
  readonly otherCustomerId: string;
  readonly otherProductId: string;
}

const missing = { status: 400, code: 1, message: 'Missing required params' };
const notFound = { status: 404, code: 1, message: 'License not found' };

const transferred = {
  status: 200,
  body: ({ address }: Subject) => ({
    data: expect.objectContaining({
      key: address.licenseKey,
      activations: 1,
      devices: [expect.objectContaining({ hostId: 'host-1' })],
    }),
    code: 0,
  }),
};

const customerOf = async (world: World, address: Address) => {
  const query = new URLSearchParams({ ...address });
  return (await world.call('admin', 'GET', `/key?${query}`)).body.data.customer;
};

/** The name of the customer that the key then has. */
const belongsTo =
  (name: string): Afterwards<Subject> =>
  async (world, { address }) =>
    expect((await customerOf(world, address)).name).toBe(name);

scenarios<Subject>(
  'keys.transfer',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer({ name: 'Zoë', email: 'zoe@example.com' });
    const { id: otherCustomerId } = await world.customer({ name: 'Acme' });
    const address = { productId, licenseKey: await world.key({ productId, customerId }) };
    await world.activate(address, 'host-1');
    return { address, customerId, otherCustomerId, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'gives the key to another customer, with its devices, and says so in the record',
      as: 'admin',
      request: ({ address, otherCustomerId }) => ({ body: { ...address, customerId: otherCustomerId } }),
      expect: transferred,
      wrote: {},
      afterwards: async (world, subject, answer) => {
        await belongsTo('Acme')(world, subject, answer);
        const { events } = await recordedOf(world, 'keys.transfer');
        expect(events).toEqual([
          {
            type: 'license.transferred',
            resource: { type: 'license', id: answer.body.data.id },
            data: expect.objectContaining({ from: subject.customerId, to: subject.otherCustomerId }),
          },
        ]);
      },
    },
    {
      name: 'gives it to nobody',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, customerId: null } }),
      expect: transferred,
      wrote: {},
      afterwards: async (world, { address }) => expect(await customerOf(world, address)).toBeNull(),
    },
    {
      name: 'gives it to a customer that it creates',
      as: { scopes: ['license:write', 'license:reveal'] },
      request: ({ address }) => ({ body: { ...address, newCustomer: { name: 'Ada', email: 'ada@example.com' } } }),
      expect: transferred,
      wrote: { customers: 1 },
      afterwards: belongsTo('Ada'),
    },
    {
      name: 'leaves it with the customer that has it, without an event',
      as: 'admin',
      request: ({ address, customerId }) => ({ body: { ...address, customerId } }),
      expect: transferred,
      afterwards: async (world) => expect((await recordedOf(world, 'keys.transfer')).events).toEqual([]),
    },
    {
      name: 'refuses neither customerId nor newCustomer',
      as: 'admin',
      request: ({ address }) => ({ body: address }),
      expect: missing,
    },
    {
      name: 'refuses both of them',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, customerId: null, newCustomer: { name: 'Ada' } } }),
      expect: missing,
    },
    {
      name: 'refuses a customer that is not there, and names it',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, customerId: 'cus_absent' } }),
      expect: { status: 404, code: 2, message: () => 'Customer cus_absent not found' },
    },
    {
      name: 'refuses an e-mail address that a customer has, and creates none',
      as: 'admin',
      request: ({ address }) => ({ body: { ...address, newCustomer: { name: 'Z', email: 'ZOE@example.com' } } }),
      expect: { status: 409, code: 2, message: () => 'A customer with email ZOE@example.com already exists' },
    },
    {
      name: 'refuses a licence that was changed meanwhile, and creates no customer',
      as: 'admin',
      request: ({ address }) => ({
        body: { ...address, newCustomer: { name: 'Ada' }, ifUpdatedAt: '2026-11-21T09:00:00Z' },
      }),
      expect: { status: 409, code: 5, message: () => 'It was changed meanwhile, at 2026-11-21T10:00:00.000Z' },
    },
    {
      name: 'refuses a key of another product, and creates no customer',
      as: 'admin',
      request: ({ address, otherProductId }) => ({
        body: { ...address, productId: otherProductId, newCustomer: { name: 'Ada' } },
      }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ scopes: ['license:write'], productIds: [otherProductId] }),
      request: ({ address }) => ({ body: { ...address, customerId: null } }),
      expect: notFound,
    },
  ],
);
