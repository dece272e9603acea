import { scenarios } from '../support/scenario.ts';
import type { World } from '../support/world.ts';

interface Subject {
  readonly ids: readonly string[];
  readonly account: string;
}

const nobody = { status: 200, body: { action: 'customers.list', status: true, data: [], code: 0 } };

/** Zoë with an address, then, a minute later, Acme without one. */
async function twoCustomers(world: World) {
  const zoe = await world.customer({ name: 'Zoë', email: 'Zoe@Example.com' });
  world.setNow('2026-11-21T10:01:00.000Z');
  const acme = await world.customer({ name: 'Acme' });
  return { ids: [zoe.id, acme.id] };
}

const both = {
  status: 200,
  body: ({ ids: [zoe, acme], account }: Subject) => ({
    action: 'customers.list',
    status: true,
    data: [
      {
        id: zoe,
        name: 'Zoë',
        email: 'Zoe@Example.com',
        active: true,
        createdAt: '2026-11-21T10:00:00.000Z',
        updatedAt: '2026-11-21T10:00:00.000Z',
        createdBy: account,
      },
      {
        id: acme,
        name: 'Acme',
        email: null,
        active: true,
        createdAt: '2026-11-21T10:01:00.000Z',
        updatedAt: '2026-11-21T10:01:00.000Z',
        createdBy: account,
      },
    ],
    code: 0,
  }),
};

scenarios<Subject>('customers.list', async ({ accounts }) => ({ ids: [], account: accounts.acme }), [
  { name: 'lists nobody when there is nobody', as: 'admin', request: {}, expect: nobody },
  { name: 'lists all customers, oldest first', given: twoCustomers, as: 'admin', request: {}, expect: both },
  {
    name: 'lists them for a caller that may only read',
    given: twoCustomers,
    as: 'read-only',
    request: {},
    expect: both,
  },
  {
    name: 'lists them for a token that may read customers and no more',
    given: twoCustomers,
    as: { scopes: ['customer:read'] },
    request: {},
    expect: both,
  },
  {
    name: 'ignores a query parameter it does not know',
    given: twoCustomers,
    as: 'admin',
    request: { query: { colour: 'blue' } },
    expect: both,
  },
  {
    name: 'does not list a customer that was removed',
    given: async (world) => {
      const { id } = await world.customer();
      await world.call('admin', 'DELETE', `/customer/by-id?customerId=${id}`);
    },
    as: 'admin',
    request: {},
    expect: nobody,
  },
  {
    name: 'shows a customer that is not active as such',
    given: async (world) => {
      const subject = await twoCustomers(world);
      await world.sql('update customers set active = 0');
      return subject;
    },
    as: 'admin',
    request: {},
    expect: {
      status: 200,
      body: (subject: Subject) => ({
        ...both.body(subject),
        data: both.body(subject).data.map((customer) => ({ ...customer, active: false })),
      }),
    },
  },
  {
    name: 'refuses a caller without a token',
    as: 'nobody',
    request: {},
    expect: { status: 401, code: 1, message: 'Invalid access token' },
  },
  {
    name: 'refuses a token that may not read customers',
    as: 'client',
    request: {},
    expect: { status: 403, code: 1, message: 'Insufficient permissions for this operation' },
  },
  {
    name: 'answers a server error when the database fails',
    given: (world) => world.breakTable('customers'),
    as: 'admin',
    request: {},
    expect: { status: 500, code: 1, message: 'Server error' },
  },
]);
