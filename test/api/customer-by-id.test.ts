import { describe, expect, it } from 'vitest';
import { engines } from '../support/engines.ts';
import { allRecorded } from '../support/recorded.ts';
import { scenarios } from '../support/scenario.ts';
import { createWorld, type World } from '../support/world.ts';

interface Subject {
  readonly ada: string;
  readonly account: string;
}

const MADE = '2026-11-21T10:00:00.000Z';
const LATER = '2026-11-21T11:00:00.000Z';
const ABSENT = 'cus_00000000000000000000000000';

/** Ada, and Bob with an address of his own. */
async function twoCustomers(world: World): Promise<Subject> {
  const ada = (await world.customer({ name: 'Ada Ltd', email: 'it@ada.example' })).id;
  await world.customer({ name: 'Bob', email: 'Bob@example.com' });
  return { ada, account: world.accounts.acme };
}

const shows =
  (action: string, changes: object = {}) =>
  ({ ada, account }: Subject) => ({
    action,
    status: true,
    data: {
      id: ada,
      name: 'Ada Ltd',
      email: 'it@ada.example',
      active: true,
      createdAt: MADE,
      updatedAt: MADE,
      createdBy: account,
      ...changes,
    },
    code: 0,
  });

const missing = { status: 400, code: 1, message: 'Missing required params' };
const scopeMissing = { status: 403, code: 1, message: 'Insufficient permissions for this operation' };
const notFound = { status: 404, code: 2, message: () => `Customer ${ABSENT} not found` };
const byId = ({ ada }: Subject) => ({ query: { customerId: ada } });

scenarios<Subject>('customers.get', twoCustomers, [
  { name: 'shows a customer', as: 'read-only', request: byId, expect: { status: 200, body: shows('customers.get') } },
  { name: 'refuses a token that may not read customers', as: 'client', request: byId, expect: scopeMissing },
  {
    name: 'finds no customer that does not exist',
    as: 'admin',
    request: { query: { customerId: ABSENT } },
    expect: notFound,
  },
]);

const put = (body: object) => ({
  as: 'admin' as const,
  at: LATER,
  request: ({ ada }: Subject) => ({ query: { customerId: ada }, body }),
});

const changed = (changes: object) => ({
  status: 200,
  body: shows('customers.update', { updatedAt: LATER, ...changes }),
});

scenarios<Subject>('customers.update', twoCustomers, [
  { name: 'renames a customer', ...put({ name: 'Ada & Co' }), expect: changed({ name: 'Ada & Co' }), wrote: {} },
  {
    name: 'changes an address',
    ...put({ email: 'Desk@ada.example' }),
    expect: changed({ email: 'Desk@ada.example' }),
    wrote: {},
  },
  {
    name: 'takes the address that the customer has, in another case',
    ...put({ email: 'IT@ada.example' }),
    expect: changed({ email: 'IT@ada.example' }),
    wrote: {},
  },
  {
    name: 'removes an address, which is free then',
    ...put({ email: null }),
    expect: changed({ email: null }),
    wrote: {},
    afterwards: async (world) => {
      const again = await world.call('admin', 'POST', '/customer', { name: 'New', email: 'it@ada.example' });
      expect(again.status).toBe(201);
    },
  },
  {
    name: 'makes a customer inactive',
    ...put({ active: false }),
    expect: changed({ active: false }),
    wrote: {},
    afterwards: async (world) => {
      const recorded = JSON.stringify(await allRecorded(world));
      expect(recorded).toContain('customers.update');
      expect(recorded).not.toContain('ada.example');
    },
  },
  {
    name: 'changes a customer that nobody has changed since it was read',
    ...put({ name: 'Ada & Co', ifUpdatedAt: MADE }),
    expect: changed({ name: 'Ada & Co' }),
    wrote: {},
  },
  {
    name: 'refuses to change a customer that was changed since it was read',
    ...put({ name: 'Ada & Co', ifUpdatedAt: '2026-11-21T09:59:59Z' }),
    expect: { status: 409, code: 5, message: () => `It was changed meanwhile, at ${MADE}` },
  },
  {
    name: 'refuses the address of another customer, in any case',
    ...put({ email: 'bob@EXAMPLE.com' }),
    expect: { status: 409, code: 2, message: () => 'A customer with email bob@EXAMPLE.com already exists' },
  },
  { name: 'refuses a body that changes nothing', ...put({ ifUpdatedAt: MADE }), expect: missing },
  { name: 'refuses a blank name', ...put({ name: ' ' }), expect: missing },
  { name: 'refuses what is no address', ...put({ email: 'ada' }), expect: missing },
  { name: 'refuses a token that may only read', ...put({ name: 'x' }), as: 'read-only', expect: scopeMissing },
  {
    name: 'finds no customer that does not exist',
    ...put({ name: 'x' }),
    request: { query: { customerId: ABSENT }, body: { name: 'x' } },
    expect: notFound,
  },
]);

scenarios<Subject>('customers.keys', twoCustomers, [
  {
    name: 'lists the keys of a customer and of no other, newest first, page by page',
    given: async (world, { ada }) => {
      const productId = (await world.product()).id;
      for (const customerId of [ada, null, ada, ada]) await world.key({ productId, customerId });
    },
    as: 'read-only',
    request: ({ ada }) => ({ query: { customerId: ada, limit: '2' } }),
    expect: {
      status: 200,
      body: ({ ada }: Subject) => ({
        data: [expect.objectContaining({ customerId: ada }), expect.objectContaining({ customerId: ada })],
        meta: { total: 3, page: 1, limit: 2, totalPages: 2 },
        code: 0,
      }),
    },
    afterwards: async (_, __, { body }) => {
      const ids = body.data.map(({ id }: { id: string }) => id);
      expect(ids).toEqual(ids.toSorted().reverse());
      for (const { key, devices } of body.data) expect([key.slice(0, 6), devices]).toEqual(['*****-', undefined]);
    },
  },
  {
    name: 'does not know a customer whose keys are all of products that the token is not for',
    given: async (world, { ada }) => {
      await world.key({ productId: (await world.product()).id, customerId: ada });
    },
    as: { kind: 'read-only', productIds: ['prod_00000000000000000000000000'] },
    request: byId,
    expect: { status: 404, code: 2, message: ({ ada }) => `Customer ${ada} not found` },
  },
  {
    name: 'refuses a page of 1001',
    as: 'admin',
    request: { query: { customerId: 'c', limit: '1001' } },
    expect: missing,
  },
  { name: 'refuses a token of kind client', as: 'client', request: byId, expect: scopeMissing },
  {
    name: 'finds no customer that does not exist',
    as: 'admin',
    request: { query: { customerId: ABSENT } },
    expect: notFound,
  },
]);

describe.each(engines)('two changes of a customer on $name', (engine) => {
  it('leave different instants, so that the second reader of the first finds it stale', async () => {
    await using world = await createWorld({ engine });
    const { ada } = await twoCustomers(world);
    const put = (body: object) => world.call('admin', 'PUT', `/customer/by-id?customerId=${ada}`, body);
    const first = await put({ name: 'One' });
    const second = await put({ name: 'Two', ifUpdatedAt: first.body.data.updatedAt });
    expect(second.status).toBe(200);
    expect((await put({ name: 'Three', ifUpdatedAt: first.body.data.updatedAt })).body.code).toBe(5);
  });

  it('to what they are already changes nothing, and is no event, for customers, products and webhooks', async () => {
    await using world = await createWorld({ engine, allowPrivateWebhooks: true });
    const customer = await world.customer({ name: 'Ada Ltd' });
    const product = await world.product();
    const webhook = (await world.call('admin', 'POST', '/webhook', { url: 'https://hooks.example/x' })).body.data;
    const put = async (path: string, body: object) => (await world.call('admin', 'PUT', path, body)).body.data;
    const updated = async () => {
      const entries = await allRecorded(world);
      return entries.flatMap(({ events }) => events.filter(({ type }) => type.endsWith('.updated')));
    };
    world.setNow('2026-11-22T10:00:00.000Z');
    for (const [path, before, body] of [
      [`/customer/by-id?customerId=${customer.id}`, customer, { name: 'Ada Ltd', active: true }],
      [`/product/by-id?productId=${product.id}`, product, { name: product.name }],
      [`/webhook/by-id?webhookId=${webhook.id}`, webhook, { url: webhook.url }],
    ] as const) {
      expect((await put(path, body)).updatedAt, path).toBe(before.updatedAt);
    }
    expect(await updated()).toEqual([]);
    await put(`/customer/by-id?customerId=${customer.id}`, { name: 'Ada GmbH' });
    expect(await updated()).toHaveLength(1);
  });

  it('to one address at the same time: one gets it, the other is told that it is taken', async () => {
    await using world = await createWorld({ engine });
    const ids = await Promise.all(
      ['One', 'Two', 'Three', 'Four'].map(async (name) => (await world.customer({ name })).id),
    );
    const answers = await Promise.all(
      ids.map((id) => world.call('admin', 'PUT', `/customer/by-id?customerId=${id}`, { email: 'one@example.com' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });
});
