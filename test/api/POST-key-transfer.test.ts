import { expect } from 'vitest';
import { recordedOf } from '../support/recorded.ts';
import { type Afterwards, refuses, row, scenarios } from '../support/scenario.ts';
import { type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import type { Address, World } from '../support/world.ts';

interface Subject extends Shop {
  readonly otherCustomerId: string;
}

const transferred = {
  body: ({ address }: Subject) => ({
    data: expect.objectContaining({
      key: address.licenseKey,
      activations: 1,
      devices: [expect.objectContaining({ hostId: 'host-1' })],
    }),
    code: 0,
  }),
};

const customerOf = async (world: World, address: Address) =>
  (await world.call('admin', 'GET', `/key?${new URLSearchParams({ ...address })}`)).body.data.customer;

/** The name of the customer that the key then has. */
const belongsTo =
  (name: string | undefined): Afterwards<Subject> =>
  async (world, { address }) =>
    expect((await customerOf(world, address))?.name).toBe(name);

scenarios<Subject>(
  'keys.transfer',
  {
    given: async (world) => ({
      ...(await shopWith({}, 'host-1')(world)),
      otherCustomerId: (await world.customer({ name: 'Acme' })).id,
    }),
    body: ({ address }) => ({ ...address, newCustomer: { name: 'Ada', email: 'ada@example.com' } }),
  },
  [
    row('gives the key to another customer, with its devices, and says so in the record', transferred, {
      send: ({ otherCustomerId }) => ({ newCustomer: undefined, customerId: otherCustomerId }),
      wrote: {},
      afterwards: async (world, subject, answer) => {
        await belongsTo('Acme')(world, subject, answer);
        expect((await recordedOf(world, 'keys.transfer')).events).toEqual([
          {
            type: 'license.transferred',
            resource: { type: 'license', id: answer.body.data.id },
            data: expect.objectContaining({ from: subject.customerId, to: subject.otherCustomerId }),
          },
        ]);
      },
    }),
    row('gives it to a customer that it creates', transferred, {
      as: { scopes: ['license:write', 'license:reveal'] },
      wrote: { customers: 1 },
      afterwards: belongsTo('Ada'),
    }),
    row('leaves it with the customer that has it, without an event', transferred, {
      send: ({ customerId }) => ({ newCustomer: undefined, customerId }),
      afterwards: async (world) => expect((await recordedOf(world, 'keys.transfer')).events).toEqual([]),
    }),
    ...refuses('invalidParams', {
      'neither customerId nor newCustomer': { newCustomer: undefined },
      'both of them': { customerId: null },
    }),
    row('refuses a customer that is not there, and names it', ['customerNotFound', 'Customer cus_absent not found'], {
      send: { newCustomer: undefined, customerId: 'cus_absent' },
    }),
    row(
      'refuses an e-mail address that a customer has, and creates none',
      ['emailTaken', 'A customer with email ZOE@example.com already exists'],
      { send: { newCustomer: { name: 'Z', email: 'ZOE@example.com' } } },
    ),
    ...unknownKeys(),
  ],
);
