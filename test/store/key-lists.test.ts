import { describe, expect, it } from 'vitest';
import type { Instant, LicenseKey, ProductId } from '../../src/contract/scalars.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Connection } from '../../src/store/engine/driver.ts';
import { raw, type Sql } from '../../src/store/engine/sql.ts';
import type { Store } from '../../src/store/store.ts';
import { type KeyFilters, keyListRepository } from '../../src/store/tables/keys/lists.ts';
import { licenseWith, now } from '../domain/examples.ts';
import { type Engine, engines } from '../support/engines.ts';
import { accountId, insertLicense } from '../support/store-fixture.ts';

const products = ['A', 'B', 'C'].map((letter) => `prod_00000000000000000000000${letter}` as ProductId);
const idOf = (at: number) => `lic_${String(at).padStart(4, '0')}`;
const add = (at: number, isTrial = false) =>
  licenseWith({
    accountId,
    id: idOf(at),
    key: `KEY-${at}` as LicenseKey,
    productId: products[at % 3] as ProductId,
    isTrial,
  });

/** Sixty keys of three products in turn, without a trial among them. */
async function fill(store: Store): Promise<void> {
  await insertLicense(store, { isTrial: true });
  await store.transaction(async (repositories) => {
    for (const id of products) await repositories.products.insert({ accountId, id, name: id, now });
    for (let at = 0; at < 60; at += 1) await repositories.keys.insert(add(at));
  });
}

/** The lists of a filled database, and how many rows each statement read; `between` runs after each of them. */
async function openLists(
  engine: Engine,
  { between, addMore }: { between?: string; addMore?: (store: Store) => Promise<void> } = {},
) {
  const database = await engine.createDatabase();
  await fill(database.store);
  await addMore?.(database.store);
  await database.store.close();
  const { connection: reading, close } = await openDatabase(database.location);
  const read: number[] = [];
  async function all<R, T = R>(statement: Sql, take?: (row: R) => T): Promise<T[]> {
    const rows = await reading.all(statement, take);
    read.push(rows.length);
    if (between !== undefined) await reading.run(raw(between));
    return rows;
  }
  const connection: Pick<Connection, 'all' | 'first'> = {
    all,
    first: async <R, T = R>(statement: Sql, take?: (row: R) => T) => (await all(statement, take))[0] ?? null,
  };
  return {
    read,
    lists: keyListRepository(connection as Connection),
    async [Symbol.asyncDispose]() {
      await close();
      await database[Symbol.asyncDispose]();
    },
  };
}

const ofTwo: KeyFilters = { productIds: products.slice(0, 2) };

/** The ids from one number down to another, of the first two products. */
const idsDownTo = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, i) => from - i)
    .filter((at) => at % 3 < 2)
    .map(idOf);

describe.each(engines)('a list of the keys of some products on $name', (engine) => {
  it.each([
    ['the first page', { limit: 4 }, idsDownTo(58, 54)],
    ['a page far behind', { limit: 4, offset: 30 }, idsDownTo(13, 9)],
    ['the last page', { limit: 4, offset: 38 }, idsDownTo(1, 0)],
    ['what is behind a key', { limit: 4, after: idOf(10) }, idsDownTo(9, 4)],
  ])('reads no more rows than it gives: %s', async (_, page, expected) => {
    await using database = await openLists(engine);
    const found = await database.lists.page(accountId, ofTwo, page);
    expect(found.map(({ id }) => id)).toEqual(expected);
    expect(database.read).toEqual([expected.length]);
  });

  it.each<[string, Partial<KeyFilters>, number]>([
    ['are paid', { trial: false }, 40],
    ['are active', { status: { is: ['active'], now, until: now } }, 40],
    ['have an end', { expiresFrom: '1970-01-01T00:00:00.000Z' as Instant }, 0],
    ['have an entry of metadata', { metadata: [['plan', 'pro']] }, 0],
    ['are found by a text', { text: { text: 'KEY-7', key: 'KEY-7', anyKeyEnd: false, customers: false } }, 1],
    ['are of no product', { productIds: [] }, 0],
    ['are of one product', { productIds: products.slice(2) }, 20],
  ])('holds those that %s', async (_, filter, expected) => {
    await using database = await openLists(engine);
    const found = await database.lists.page(accountId, { ...ofTwo, ...filter }, { limit: 100 });
    expect(found).toHaveLength(expected);
    expect(found.map(({ id }) => id)).toEqual(
      found
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(await database.lists.count(accountId, { ...ofTwo, ...filter })).toBe(expected);
  });
});

describe.each(engines)('a count of keys on $name', (engine) => {
  it('is of one moment, while keys are changed', async () => {
    // Each read is followed by trials that were no trials before.
    await using database = await openLists(engine, { between: `update licenses set is_trial = 1` });
    expect(await database.lists.count(accountId, { productIds: null, trial: false })).toBe(60);
  });

  it('takes off what is blocked or expired, whatever else is asked for', async () => {
    await using database = await openLists(engine);
    const active = { is: ['active'] as const, now, until: now };
    const all = { productIds: null, status: active };
    expect(await database.lists.count(accountId, all)).toBe(61);
    expect(await database.lists.count(accountId, { ...all, trial: false, licenseTypes: ['node-locked'] })).toBe(60);
    expect(await database.lists.count(accountId, { ...all, trial: true, licenseTypes: ['floating'] })).toBe(0);
  });
});

describe.each(engines)('a list of keys by their ends on $name', (engine) => {
  const monthLater = (months: number) => new Date(Date.UTC(2020, months, 15)).toISOString() as Instant;

  it('has them newest first, whenever they end, and whether or not that was recorded', async () => {
    const months = 7;
    const endOf = (at: number) => monthLater((at * 37) % months);
    const addMore = (store: Store) =>
      store.transaction(async (repositories) => {
        for (let at = 100; at < 300; at += 1) {
          const license = { ...add(at), expirationDate: endOf(at), vendorDisabled: at % 2 === 0 };
          await repositories.keys.insert(license);
          if (at % 4 < 2) await repositories.licenseExpiries.markRecorded(license);
        }
      });
    await using opened = await openLists(engine, { addMore });
    const [first, from, before] = [monthLater(0), monthLater(2), monthLater(5)];
    const newestFirst = Array.from({ length: 200 }, (_, i) => 299 - i);
    const cases: [Partial<KeyFilters>, (at: number) => boolean][] = [
      [{ expiresFrom: from }, (at) => endOf(at) >= from],
      [{ expiresBefore: before }, (at) => endOf(at) < before],
      [{ expiresFrom: from, expiresBefore: before }, (at) => endOf(at) >= from && endOf(at) < before],
      [{ status: { is: ['expired'], now: from, until: from } }, (at) => at % 2 === 1 && endOf(at) <= from],
      [
        { ...ofTwo, status: { is: ['expiring'], now: from, until: before } },
        (at) => at % 2 === 1 && at % 3 < 2 && endOf(at) > from && endOf(at) <= before,
      ],
      [{ status: { is: ['expired', 'blocked'], now: from, until: from } }, (at) => at % 2 === 0 || endOf(at) <= from],
      [
        {
          ...ofTwo,
          expiresBefore: before,
          status: { is: ['expiring', 'unused', 'expired'], now: from, until: before },
        },
        (at) => at % 2 === 1 && at % 3 < 2 && endOf(at) < before,
      ],
      [
        { expiresFrom: first, status: { is: ['unused', 'full', 'expiring', 'active'], now: from, until: before } },
        (at) => at % 2 === 1 && endOf(at) > from,
      ],
      [
        { expiresFrom: first, status: { is: ['expiring', 'unused', 'revoked'], now: from, until: before } },
        (at) => at % 2 === 1 && endOf(at) > from,
      ],
      [{ expiresFrom: before, expiresBefore: from }, () => false],
    ];
    for (const [filter, fits] of cases) {
      const filters = { productIds: null, ...filter };
      const expected = newestFirst.filter(fits).map(idOf);
      const walked: string[] = [];
      for (let after: string | undefined; ; after = walked.at(-1)) {
        const part = await opened.lists.page(accountId, filters, { limit: 9, after });
        walked.push(...part.map(({ id }) => id));
        if (part.length < 9) break;
      }
      expect(walked).toEqual(expected);
      expect(await opened.lists.count(accountId, filters)).toBe(expected.length);
      expect((await opened.lists.page(accountId, filters, { limit: 3, offset: 2 })).map(({ id }) => id)).toEqual(
        expected.slice(2, 5),
      );
    }
  });
});
