import { describe, expect } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { accountId } from '../support/store-fixture.ts';

const people = [
  ['cus_1', 'Zoë Müller', 'zoe@example.com'],
  ['cus_2', 'ANNA Ärmel-Long', 'Anna.Long@Example.com'],
  ['cus_3', '100% Ltd', null],
  ['cus_4', 'Under_score', 'under_score@example.org'],
  ['cus_5', '東京 Électricité', 'e!mark@example.org'],
] as const;

async function fill(store: Store): Promise<void> {
  await store.transaction(async (repositories) => {
    for (const [id, name, email] of people) await repositories.customers.insert({ accountId, id, name, email, now });
  });
}

const inEmail: readonly [text: string, ids: readonly string[]][] = [
  ['EXAMPLE.COM', ['cus_1', 'cus_2']],
  ['long@', ['cus_2']],
  ['_', ['cus_4']],
  ['%', []],
  ['!', ['cus_5']],
];

const inWords: readonly [text: string, ids: readonly string[]][] = [
  ['zoë', ['cus_1']],
  ['ZOË', ['cus_1']],
  ['Zoe\u0308', ['cus_1']],
  ['müll', ['cus_1']],
  ['mueller', ['cus_1']],
  ['uller', ['cus_1']],
  ['ueller', ['cus_1']],
  ['ul', []],
  ['ÄRMEL', ['cus_2']],
  ['anna ärm', ['cus_2']],
  ['long', ['cus_2']],
  ['example', ['cus_1', 'cus_2', 'cus_4', 'cus_5']],
  ['électr', ['cus_5']],
  ['東', ['cus_5']],
  ['100%', ['cus_3']],
  ['%', []],
  ['_', []],
  ['score', ['cus_4']],
  ['müller zoe', []],
];

describe.each(engines)('a list of customers on $name', (engine) => {
  const it = testsOn(engine);

  it('holds those whose e-mail address contains a text', async ({ store }) => {
    await fill(store);
    const { customers } = store.repositories;
    for (const [email, expected] of inEmail) {
      const list = customers.list(accountId, { email });
      expect(await list.map(({ id }) => id).part({ limit: 10 }), email).toEqual(expected);
      expect(await list.count(), email).toBe(expected.length);
    }
  });

  it('holds those whose name or e-mail address has words with a text in them', async ({ store }) => {
    await fill(store);
    for (const [text, expected] of inWords) {
      const list = store.repositories.customers.list(accountId, { text });
      expect(await list.map(({ id }) => id).part({ limit: 10 }), text).toEqual(expected);
    }
  });

  it('holds those that are active or not, together with other filters', async ({ database, store }) => {
    await fill(store);
    await database.query(`update customers set active = 0 where id in ('cus_1', 'cus_3')`);
    const { customers } = store.repositories;
    const ids = async (filters: object, after?: string) =>
      (await customers.list(accountId, filters).part({ limit: 10, after })).map(({ id }) => id);
    expect(await ids({ active: false })).toEqual(['cus_1', 'cus_3']);
    expect(await ids({ active: true, text: 'example' }, 'cus_2')).toEqual(['cus_4', 'cus_5']);
    expect(await customers.list(accountId, { active: false, email: 'zoe' }).count()).toBe(1);
  });

  it('is walked through to its end, in batches, without a bound on its length', async ({ store }) => {
    const ids = Array.from({ length: 1_201 }, (_, i) => `cus_${String(i).padStart(5, '0')}`);
    await store.transaction(async (repositories) => {
      for (const id of ids) await repositories.customers.insert({ accountId, id, name: 'x', email: null, now });
    });
    const walked = await Array.fromAsync(store.repositories.customers.list(accountId).all());
    expect(walked.map(({ id }) => id)).toEqual(ids);
  });
});

describe.each(engines)('lists of products and tokens on $name', (engine) => {
  const it = testsOn(engine);

  it('have pages, a count, and a walk', async ({ store }) => {
    const token = { accountId, kind: 'admin' as const, scopes: [], productIds: null, maxIssues: null, expiresAt: null };
    await store.transaction(async (repositories) => {
      await repositories.products.insert({ accountId, id: 'prod_2', name: 'Viewer', now });
      for (const id of ['tok_1', 'tok_2']) await repositories.tokens.insert({ ...token, id, name: id, hash: id, now });
    });
    const { products, tokens } = store.repositories;
    const [first] = await products.list(accountId).part({ limit: 1 });
    expect(await products.list(accountId).part({ limit: 9, after: first?.id })).toMatchObject([{ id: 'prod_2' }]);
    expect(await products.list(accountId).count()).toBe(2);
    expect(await Array.fromAsync(products.list(accountId).all())).toHaveLength(2);
    expect(await tokens.list(accountId).part({ limit: 9, offset: 1 })).toMatchObject([{ id: 'tok_2' }]);
    expect(await tokens.list(accountId).count()).toBe(2);
    expect(await Array.fromAsync(tokens.list(accountId).all())).toHaveLength(2);
  });
});

describe.each(engines)('the devices of a licence on $name', (engine) => {
  const it = testsOn(engine);

  it('are all there, however many they are', async ({ store, license }) => {
    await store.transaction(async (repositories) => {
      for (let i = 0; i < 1_001; i += 1) {
        const device = { id: `dev_${String(i).padStart(5, '0')}`, hostId: `h${i}` as never, deviceTag: null };
        await repositories.devices.insert(license, {
          ...device,
          ipAddress: '203.0.113.7' as never,
          activationTime: now,
        });
      }
    });
    const found = await store.repositories.devices.list(license);
    expect(found).toHaveLength(1_001);
    expect(found.map(({ id }) => id)).toEqual(found.map(({ id }) => id).sort());
  });
});
