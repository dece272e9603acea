import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { allRecorded } from '../support/recorded.ts';
import { answers, refuses, row, scenarios } from '../support/scenario.ts';
import { acted, type Shop, shopWith } from '../support/shop.ts';
import { STARTED_AT, type World } from '../support/world.ts';

interface Subject {
  readonly ada: string;
  readonly bob: string;
  readonly account: string;
}

const LATER = '2026-11-21T11:00:00.000Z';
const ABSENT = 'cus_00000000000000000000000000';

/** Ada with an address, then, a minute later, Bob without one. */
async function twoCustomers(world: World): Promise<Subject> {
  const ada = (await world.customer({ name: 'Ada Ltd', email: 'It@ada.example' })).id;
  world.setNow('2026-11-21T10:01:00.000Z');
  const bob = (await world.customer({ name: 'Bob' })).id;
  return { ada, bob, account: world.accounts.acme };
}

const customer = (account: string, fields: object) => ({
  ...{ active: true, createdAt: STARTED_AT, updatedAt: STARTED_AT, createdBy: account },
  ...fields,
});

const adaOf = ({ ada, account }: Subject, changes: object = {}) =>
  customer(account, { id: ada, name: 'Ada Ltd', email: 'It@ada.example', ...changes });

const bobOf = ({ bob, account }: Subject) => {
  const at = '2026-11-21T10:01:00.000Z';
  return customer(account, { id: bob, name: 'Bob', email: null, createdAt: at, updatedAt: at });
};

/** Some of the two, and where the page stands. */
const lists = (which: readonly ('ada' | 'bob')[], meta?: object) =>
  answers((subject: Subject) =>
    acted(
      'customers.list',
      which.map((name) => (name === 'ada' ? adaOf(subject) : bobOf(subject))),
      meta,
    ),
  );

/** A link is not shown again, and holds 32 random bytes. */
const linkUntil = (expiresAt: string) =>
  answers({
    data: { url: expect.stringMatching(/^https:\/\/licences\.example\.com\/my\/[\w-]{43}$/), expiresAt },
    code: 0,
  });

scenarios<Subject>(
  'customers.link',
  { given: twoCustomers, body: ({ ada }) => ({ customerId: ada }), wrote: { customer_links: 1 } },
  [
    row('makes a link that works for an hour', linkUntil('2026-11-21T11:01:00.000Z'), {
      as: { scopes: ['customer:write'] },
    }),
    row('makes one that works as long as is said', linkUntil('2026-11-28T10:01:00.000Z'), {
      send: { expiresIn: 604_800 },
    }),
    ...refuses<Subject>('invalidParams', {
      'a minute less a second': { expiresIn: 59 },
      'more than a week': { expiresIn: 604_801 },
    }),
    row('refuses a customer of another account', ['customerNotFound', ({ ada }) => `Customer ${ada} not found`], {
      as: 'other admin',
    }),
    row('refuses a token that is limited to some products', 'scopeMissing', {
      as: { scopes: ['customer:write'], productIds: [ABSENT] },
    }),
    row('refuses where no server runs', 'pageNotServed', { given: async (world) => world.withoutPage() }),
  ],
);

scenarios<Subject>('customers.unlink', { given: twoCustomers, query: ({ ada }) => ({ customerId: ada }) }, [
  row('ends all links of a customer, and no other', answers({ action: 'customers.unlink', status: true, code: 0 }), {
    as: { scopes: ['customer:write'] },
    given: async (world, { ada, bob }) => {
      for (const customerId of [ada, ada, bob]) await world.call('admin', 'POST', '/customer/link', { customerId });
    },
    wrote: { customer_links: -2 },
  }),
  row('does nothing where there are none', answers({ action: 'customers.unlink', status: true, code: 0 })),
  row('refuses a customer of another account', ['customerNotFound', ({ ada }) => `Customer ${ada} not found`], {
    as: 'other admin',
  }),
]);

const put = (path: string, world: World, body: object) => world.call('admin', 'PUT', path, body);

scenarios<Subject>('customers.list', { given: twoCustomers }, [
  row('lists all customers, oldest first, to a token that may read customers and no more', lists(['ada', 'bob']), {
    as: { scopes: ['customer:read'] },
  }),
  ...(
    [
      [{ page: '2', limit: '1' }, ['bob'], { total: 2, page: 2, limit: 1, totalPages: 2 }],
      [{ email: 't@Ada' }, ['ada']],
      [{ text: 'BO' }, ['bob']],
      [{ active: 'false' }, []],
      [{ text: 'bob', limit: '1' }, ['bob'], { total: 1, page: 1, limit: 1, totalPages: 1 }],
    ] as const
  ).map(([send, which, meta]) => row(`gives what is asked for: ${JSON.stringify(send)}`, lists(which, meta), { send })),
]);

/** Bob gets an address whose domain has an umlaut, written as name servers have it. */
const withUmlaut = async (world: World) => {
  const subject = await twoCustomers(world);
  await put(`/customer/by-id?customerId=${subject.bob}`, world, { email: 'me@xn--shpware-b1a.example' });
  return subject;
};
const shop = expect.objectContaining({ email: 'me@shöpware.example' });

// The same operation, with other customers.
const findByDomain = scenarios<Subject>;
findByDomain('customers.list', { given: withUmlaut }, [
  ...[
    ...[
      'me@xn--shpware-b1a.example',
      'ME@XN--SHPWARE-B1A.example',
      'e@SHÖPWARE.ex',
      'xn--shpware-b1a',
      'shöp',
      'sho\u0308p',
    ].map((email) => ({ email })),
    ...['me shöp', 'SHÖPWARE.example', 'xn--shpware-b1a.example'].map((text) => ({ text })),
  ].map((send) =>
    row(
      `finds an address whose domain has an umlaut by ${JSON.stringify(send)}`,
      answers(() => acted('customers.list', [shop])),
      { send },
    ),
  ),
]);

const created = (fields: object) =>
  answers(({ account }: Subject) => {
    const at = '2026-11-21T10:01:00.000Z';
    const unlike = { id: expect.stringMatching(/^cus_[0-9a-z]{26}$/), name: 'Acme', createdAt: at, updatedAt: at };
    return { ...acted('customers.create', customer(account, { ...unlike, ...fields })), message: 'Customer created' };
  });

const taken = (email: string) => ['emailTaken', `A customer with email ${email} already exists`] as const;

scenarios<Subject>(
  'customers.create',
  { given: twoCustomers, body: () => ({ name: 'Acme' }), wrote: { customers: 1 } },
  [
    row('creates an active customer, whom the list then shows', created({ email: 'Ops@acme.example' }), {
      send: { email: 'Ops@acme.example' },
      as: { scopes: ['customer:write'] },
      afterwards: async (world, _subject, { body }) =>
        expect((await world.call('admin', 'GET', '/customer')).body.data).toContainEqual(body.data),
    }),
    row('refuses an e-mail address that a customer has, in any case, and names it', taken('IT@ADA.example'), {
      send: { email: 'IT@ADA.example' },
    }),
    row('keeps the domain of an address in Unicode and lower case', created({ email: 'Me@shöpware.example' }), {
      send: { email: 'Me@XN--SHPWARE-B1A.example' },
    }),
    ...['me@xn--shpware-b1a.example', 'ME@SHÖPWARE.example', 'me@sho\u0308pware.example', 'me@ｓhöpware.example'].map(
      (email) =>
        row(`takes ${JSON.stringify(email)} for the address of a customer whose domain has an umlaut`, taken(email), {
          given: async (world) => void (await world.customer({ name: 'Sh', email: 'me@shöpware.example' })),
          send: { email },
        }),
    ),
    row('composes the letters of a local part', created({ email: 'm\u00fcller@x.example' }), {
      send: { email: 'mu\u0308ller@x.example' },
    }),
    ...['"a b"@x.example', 'a..b@docomo.example', '.a@x.example', 'a.@x.example', '用户@例子.广告'].map((email) =>
      row(`takes ${email}`, created({ email }), { send: { email } }),
    ),
    ...['a@b.example\r\nBcc: c@d.example', 'a\u200bb@x.example', 'a\u3000b@x.example', '..@x.example', 'a@x.１２']
      .concat(`${'ä'.repeat(125)}@x.example`, `a@${'b'.repeat(64)}.example`, '\ud800@x.example')
      .map((email) => row(`refuses ${JSON.stringify(email)}`, 'invalidParams', { send: { email } })),
  ],
);

const byId = { given: twoCustomers, query: ({ ada }: Subject) => ({ customerId: ada }) };
const notFound = ['customerNotFound', `Customer ${ABSENT} not found`] as const;

const shows = (action: string, changes: object = {}) =>
  answers((subject: Subject) => acted(action, adaOf(subject, changes)));

scenarios<Subject>('customers.get', byId, [
  row('shows a customer', shows('customers.get'), { as: 'read-only' }),
  row('finds no customer that does not exist', notFound, { send: { customerId: ABSENT } }),
]);

const changed = (changes: object) =>
  answers((subject: Subject) => ({
    ...acted('customers.update', adaOf(subject, { updatedAt: LATER, ...changes })),
    message: 'Customer updated',
  }));

scenarios<Subject>('customers.update', { ...byId, body: () => ({ name: 'Ada & Co' }), wrote: {} }, [
  row('renames a customer that nobody has changed since it was read', changed({ name: 'Ada & Co' }), {
    send: { ifUpdatedAt: STARTED_AT },
    at: LATER,
  }),
  row('takes the own address in another case', changed({ name: 'Ada & Co', email: 'IT@ada.example' }), {
    send: { email: 'IT@ada.example' },
    at: LATER,
  }),
  row('removes an address, which is free then', changed({ email: null }), {
    send: { name: undefined, email: null },
    at: LATER,
    afterwards: async (world) => void (await world.customer({ name: 'New', email: 'it@ada.example' })),
  }),
  row('makes a customer inactive, and records nothing of what it is', changed({ active: false }), {
    send: { name: undefined, active: false },
    at: LATER,
    afterwards: async (world) => {
      const recorded = JSON.stringify(await allRecorded(world));
      expect(recorded).toContain('customers.update');
      expect(recorded).not.toContain('ada.example');
    },
  }),
  row('refuses the address of another customer, in any case', taken('bob@EXAMPLE.com'), {
    send: { email: 'bob@EXAMPLE.com' },
    given: async (world, { bob }) =>
      void (await put(`/customer/by-id?customerId=${bob}`, world, { email: 'Bob@example.com' })),
  }),
  row('refuses a body that changes nothing', 'invalidParams', { send: { name: undefined, ifUpdatedAt: STARTED_AT } }),
  row('finds no customer that does not exist', notFound, { query: { customerId: ABSENT } }),
]);

scenarios<Subject>('customers.keys', byId, [
  row(
    'lists the keys of a customer and of no other, newest first, page by page',
    answers(({ ada }: Subject) => ({
      data: [expect.objectContaining({ customerId: ada }), expect.objectContaining({ customerId: ada })],
      meta: { total: 3, page: 1, limit: 2, totalPages: 2 },
      code: 0,
    })),
    {
      send: { limit: '2' },
      given: async (world, { ada }) => {
        const productId = (await world.product()).id;
        for (const customerId of [ada, null, ada, ada]) await world.key({ productId, customerId });
      },
      as: 'read-only',
      afterwards: async (_world, _subject, { body }) => {
        const ids = body.data.map(({ id }: { id: string }) => id);
        expect(ids).toEqual(ids.toSorted().reverse());
        for (const { key, devices } of body.data) expect([key.slice(0, 6), devices]).toEqual(['*****-', undefined]);
      },
    },
  ),
  row('finds no customer that does not exist', notFound, { send: { customerId: ABSENT } }),
]);

const removed = answers(acted('customers.delete'));

const shown = async (world: World, { address }: Shop) =>
  (await world.call('admin', 'GET', `/key?${new URLSearchParams({ ...address })}`)).body.data;

scenarios<Shop>(
  'customers.delete',
  { given: shopWith({}, 'host-1'), query: ({ customerId }) => ({ customerId }), wrote: { customers: -1 } },
  [
    row('leaves the keys of the customer in use, without a customer', removed, {
      at: '2026-11-21T10:05:00.000Z',
      afterwards: async (world, subject) => {
        expect(await shown(world, subject)).toEqual({
          license: expect.objectContaining({ activations: 1, updatedAt: '2026-11-21T10:05:00.000Z' }),
          customer: null,
          files: [expect.objectContaining({ hostId: 'host-1' })],
        });
        await world.activate(subject.address, 'host-2');
      },
    }),
    row('leaves the keys of an inactive customer stopped, by blocking them and their files', removed, {
      given: async (world, { customerId }) =>
        void (await put(`/customer/by-id?customerId=${customerId}`, world, { active: false })),
      wrote: { customers: -1, revocation_lists: 1 },
      afterwards: async (world, { address }) => {
        expect(await world.license(address)).toMatchObject({ vendorDisabled: true, activated: false });
        const body = { ...address, hostId: 'host-2' };
        expect((await world.call('admin', 'POST', '/key/activate', body)).body).toMatchObject({ code: 6 });
        await world.sequence();
        const { data } = (await world.call('admin', 'GET', '/event/list?type=customer.deleted')).body;
        expect(data).toMatchObject([{ data: { keys: 1, keysBlocked: true } }]);
      },
    }),
    row('refuses a customer that is not there, and names it', notFound, { send: { customerId: ABSENT } }),
  ],
);

describe.each(engines)('a change on $name', (engine) => {
  const it = testsOn(engine);

  it('to what they are already changes nothing, and is no event, for customers, products and webhooks', async ({
    world,
  }) => {
    const customer = await world.customer({ name: 'Ada Ltd' });
    const product = await world.product();
    const webhook = (await world.call('admin', 'POST', '/webhook', { url: 'https://hooks.example/x' })).body.data;
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
      expect((await put(path, world, body)).body.data.updatedAt, path).toBe(before.updatedAt);
    }
    expect(await updated()).toEqual([]);
    await put(`/customer/by-id?customerId=${customer.id}`, world, { name: 'Ada GmbH' });
    expect(await updated()).toHaveLength(1);
  });
});
