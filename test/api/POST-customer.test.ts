import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';

const created = (fields: { readonly name: string; readonly email: string | null }) => ({
  status: 201,
  body: ({ account }: { readonly account: string }) => ({
    action: 'customers.create',
    status: true,
    data: {
      id: expect.stringMatching(/^cus_[0-9a-z]{26}$/),
      ...fields,
      active: true,
      createdAt: '2026-11-21T10:00:00.000Z',
      updatedAt: '2026-11-21T10:00:00.000Z',
      createdBy: account,
    },
    code: 0,
  }),
});

const missing = { status: 400, code: 1, message: 'Missing required params' };

scenarios(
  'customers.create',
  async (world) => {
    await world.customer({ name: 'Zoë', email: 'zoe@example.com' });
    return { account: world.accounts.acme };
  },
  [
    {
      name: 'creates an active customer',
      as: 'admin',
      request: { body: { name: 'Acme', email: 'Ops@acme.example' } },
      expect: created({ name: 'Acme', email: 'Ops@acme.example' }),
      wrote: { customers: 1 },
    },
    {
      name: 'creates one without an e-mail address',
      as: 'admin',
      request: { body: { name: 'Acme' } },
      expect: created({ name: 'Acme', email: null }),
      wrote: { customers: 1 },
    },
    {
      name: 'creates any number without an e-mail address, even of one name',
      given: async (world) => {
        await world.customer({ name: 'Acme' });
      },
      as: 'admin',
      request: { body: { name: 'Acme' } },
      expect: created({ name: 'Acme', email: null }),
      wrote: { customers: 1 },
    },
    {
      name: 'answers what the list then shows',
      as: { scopes: ['customer:write'] },
      request: { body: { name: 'Acme' } },
      expect: created({ name: 'Acme', email: null }),
      wrote: { customers: 1 },
      afterwards: async (world, _, { body }) => {
        expect((await world.call('admin', 'GET', '/customer')).body.data[1]).toEqual(body.data);
      },
    },
    {
      name: 'gives an e-mail address to a new customer when the one that had it was removed',
      given: async (world) => {
        const { id } = await world.customer({ name: 'Acme', email: 'ops@acme.example' });
        await world.call('admin', 'DELETE', `/customer/by-id?customerId=${id}`);
      },
      as: 'admin',
      request: { body: { name: 'Acme again', email: 'ops@acme.example' } },
      expect: created({ name: 'Acme again', email: 'ops@acme.example' }),
      wrote: { customers: 1 },
    },
    { name: 'refuses a blank name', as: 'admin', request: { body: { name: '   ' } }, expect: missing },
    {
      name: 'refuses what is no e-mail address',
      as: 'admin',
      request: { body: { name: 'Acme', email: 'acme.example' } },
      expect: missing,
    },
    {
      name: 'refuses an e-mail address that a customer has, and names it',
      as: 'admin',
      request: { body: { name: 'Zoe', email: 'zoe@example.com' } },
      expect: { status: 409, code: 2, message: () => 'A customer with email zoe@example.com already exists' },
    },
    {
      name: 'compares e-mail addresses without case',
      as: 'admin',
      request: { body: { name: 'Zoe', email: 'ZOE@EXAMPLE.COM' } },
      expect: { status: 409, code: 2, message: () => 'A customer with email ZOE@EXAMPLE.COM already exists' },
    },
  ],
);
