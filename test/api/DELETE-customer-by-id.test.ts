import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
import type { Address } from '../support/world.ts';

interface Subject {
  readonly customerId: string;
  /** A key of this customer, activated on host-1. */
  readonly address: Address;
}

const removed = { status: 200, body: { action: 'customers.delete', status: true, code: 0 } };

scenarios<Subject>(
  'customers.delete',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer({ name: 'Zoë', email: 'zoe@example.com' });
    const address = { productId, licenseKey: await world.key({ productId, customerId }) };
    await world.activate(address, 'host-1');
    return { customerId, address };
  },
  [
    {
      name: 'removes a customer that has no keys',
      given: async (world) => ({ customerId: (await world.customer({ name: 'Acme' })).id }),
      as: 'admin',
      request: ({ customerId }) => ({ query: { customerId } }),
      expect: removed,
      wrote: { customers: -1 },
    },
    {
      name: 'leaves the keys of the customer in use, without a customer',
      at: '2026-11-21T10:05:00.000Z',
      as: 'admin',
      request: ({ customerId }) => ({ query: { customerId } }),
      expect: removed,
      wrote: { customers: -1 },
      afterwards: async (world, { address }) => {
        const { data } = (await world.call('admin', 'GET', `/key?${new URLSearchParams({ ...address })}`)).body;
        expect(data).toEqual({
          license: expect.objectContaining({ activations: 1, updatedAt: '2026-11-21T10:05:00.000Z' }),
          customer: null,
          files: [expect.objectContaining({ hostId: 'host-1' })],
        });
        await world.activate(address, 'host-2');
      },
    },
    {
      name: 'leaves the keys of an inactive customer stopped, by blocking them and their files',
      given: async (world, { customerId }) => {
        await world.call('admin', 'PUT', `/customer/by-id?customerId=${customerId}`, { active: false });
      },
      as: 'admin',
      request: ({ customerId }) => ({ query: { customerId } }),
      expect: removed,
      wrote: { customers: -1, revocation_lists: 1 },
      afterwards: async (world, { address }) => {
        expect(await world.license(address)).toMatchObject({ vendorDisabled: true, activated: false });
        const body = { ...address, hostId: 'host-2' };
        expect((await world.call('admin', 'POST', '/key/activate', body)).body).toMatchObject({ code: 6 });
        await world.sequence();
        const { data } = (await world.call('admin', 'GET', '/event/list?type=customer.deleted')).body;
        expect(data).toMatchObject([{ data: { keys: 1, keysBlocked: true } }]);
      },
    },
    {
      name: 'leaves the keys of other customers theirs',
      given: async (world) => ({ customerId: (await world.customer({ name: 'Acme' })).id }),
      as: { scopes: ['customer:delete'] },
      request: ({ customerId }) => ({ query: { customerId } }),
      expect: removed,
      wrote: { customers: -1 },
      afterwards: async (world, { address }) => {
        const { data } = (await world.call('admin', 'GET', `/key?${new URLSearchParams({ ...address })}`)).body;
        expect(data.customer.name).toBe('Zoë');
      },
    },
    {
      name: 'refuses a customerId that is empty',
      as: 'admin',
      request: { query: { customerId: '' } },
      expect: { status: 400, code: 1, message: 'Missing required params' },
    },
    {
      name: 'refuses a customer that is not there, and names it',
      as: 'admin',
      request: { query: { customerId: 'cus_absent' } },
      expect: { status: 404, code: 2, message: () => 'Customer cus_absent not found' },
    },
    {
      name: 'refuses to remove a customer twice',
      given: async (world, { customerId }) => {
        await world.call('admin', 'DELETE', `/customer/by-id?customerId=${customerId}`);
      },
      as: 'admin',
      request: ({ customerId }) => ({ query: { customerId } }),
      expect: { status: 404, code: 2, message: ({ customerId }) => `Customer ${customerId} not found` },
    },
  ],
);
