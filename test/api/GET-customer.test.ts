import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
import { STARTED_AT, type World } from '../support/world.ts';

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
  ...[
    { query: { page: '1' }, shown: [0, 1], meta: { total: 2, page: 1, limit: 100, totalPages: 1 } },
    { query: { limit: '1' }, shown: [0], meta: { total: 2, page: 1, limit: 1, totalPages: 2 } },
    { query: { page: '2', limit: '1' }, shown: [1], meta: { total: 2, page: 2, limit: 1, totalPages: 2 } },
    { query: { page: '3', limit: '1000' }, shown: [], meta: { total: 2, page: 3, limit: 1_000, totalPages: 1 } },
    { query: { email: 'zoe@EXAMPLE.com' }, shown: [0], meta: undefined },
    { query: { email: 'oe@Example' }, shown: [0], meta: undefined },
    { query: { email: 'acme' }, shown: [], meta: undefined },
    { query: { text: 'ACM' }, shown: [1], meta: undefined },
    { query: { text: 'zoe@example.' }, shown: [0], meta: undefined },
    { query: { text: 'xample' }, shown: [], meta: undefined },
    { query: { text: '%' }, shown: [], meta: undefined },
    { query: { text: '_' }, shown: [], meta: undefined },
    { query: { active: 'true' }, shown: [0, 1], meta: undefined },
    { query: { active: 'false' }, shown: [], meta: undefined },
    { query: { text: 'acme', limit: '1' }, shown: [1], meta: { total: 1, page: 1, limit: 1, totalPages: 1 } },
  ].map(({ query, shown, meta }) => ({
    name: `gives what is asked for: ${new URLSearchParams(query as Record<string, string>)}`,
    given: twoCustomers,
    as: 'admin' as const,
    request: { query: query as Record<string, string> },
    expect: {
      status: 200,
      body: (subject: Subject) => ({
        ...both.body(subject),
        data: shown.map((index) => both.body(subject).data[index]),
        ...(meta && { meta }),
      }),
    },
  })),
  ...[
    { page: '0' },
    { page: '-1' },
    { page: '1.5' },
    { page: '' },
    { page: '1000001' },
    { limit: '0' },
    { limit: '1001' },
    { limit: '1e2' },
    { active: 'yes' },
    { active: '' },
    { email: '' },
    { text: '' },
    { text: 'a\u0000b' },
  ].map((query) => ({
    name: `refuses ${JSON.stringify(query)}`,
    as: 'admin' as const,
    request: { query: query as unknown as Record<string, string> },
    expect: { status: 400, code: 1, message: 'Missing required params' },
  })),
  {
    name: 'lists more customers than are read at a time, each once',
    given: async (world) => {
      await world.store.transaction(async ({ customers }) => {
        for (let i = 1_000; i < 2_200; i += 1) {
          const id = `cus_${i}`;
          await customers.insert({ accountId: world.accounts.acme, id, name: id, email: null, now: STARTED_AT });
        }
      });
    },
    as: 'admin',
    request: {},
    expect: { status: 200, body: expect.objectContaining({ action: 'customers.list', code: 0 }) },
    afterwards: async (_world, _subject, { body }) => {
      const expected = Array.from({ length: 1_200 }, (_, i) => `cus_${1_000 + i}`);
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(expected);
      expect('meta' in body).toBe(false);
    },
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
]);
