import { describe, expect } from 'vitest';
import type { License } from '../../src/domain/license.ts';
import type { Store } from '../../src/store/store.ts';
import { licenseWith, now } from '../domain/examples.ts';
import { engineOf } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { refuseInserts } from '../support/refuse-inserts.ts';
import { accountId, databaseWithLicense } from '../support/store-fixture.ts';

const postgres = engineOf('PostgreSQL');
const it = testsOn(postgres);

const addCustomer = (store: Store, attempts: string[]) =>
  store.transaction(async (repositories) => {
    attempts.push('attempt');
    await repositories.customers.insert({ accountId, id: 'cus_a', name: 'a', email: null, now });
    return 'done';
  });

describe('a transaction on PostgreSQL', () => {
  it.each([
    ['a deadlock', '40P01'],
    ['a serialization failure', '40001'],
  ])('is run again after %s, until it succeeds', async (_, code) => {
    await using database = await databaseWithLicense(postgres);
    await refuseInserts(database, 'customers', { times: 4, code });
    const attempts: string[] = [];
    expect(await addCustomer(database.store, attempts)).toBe('done');
    expect(attempts).toHaveLength(5);
    expect(await database.query('select name from customers')).toEqual([{ name: 'a' }]);
  });

  it('fails after five attempts, and leaves nothing', async ({ database }) => {
    await refuseInserts(database, 'customers', { times: 1_000, code: '40P01' });
    const attempts: string[] = [];
    await expect(addCustomer(database.store, attempts)).rejects.toMatchObject({
      name: 'StorageError',
      cause: { code: '40P01' },
    });
    expect(attempts).toHaveLength(5);
    expect(await database.query('select name from customers')).toEqual([]);
  });

  it('is not run again after any other failure', async ({ database }) => {
    await refuseInserts(database, 'customers', { times: 1, code: '22000' });
    const attempts: string[] = [];
    await expect(addCustomer(database.store, attempts)).rejects.toMatchObject({ cause: { code: '22000' } });
    expect(attempts).toHaveLength(1);
  });

  it('is finished, and counted once, beside another that changes the same licences in the opposite order', async ({
    database,
  }) => {
    const { store, license: one } = database;
    const other = licenseWith({ ...one, id: 'lic_other', key: `${one.key.slice(0, -1)}Z` as License['key'] });
    await store.transaction((repositories) => repositories.keys.insert(other));

    const holding = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    let attempts = 0;
    const takeBoth = (first: License, second: License, mine: 0 | 1) =>
      store.transaction(async (repositories) => {
        attempts += 1;
        await repositories.keys.takeSlot(first, now, first);
        holding[mine].resolve();
        await holding[mine === 0 ? 1 : 0].promise;
        return repositories.keys.takeSlot(second, now, second);
      });
    expect(await Promise.all([takeBoth(one, other, 0), takeBoth(other, one, 1)])).toEqual([true, true]);
    // Three, or more where the one that is run again comes before the other once more.
    expect(attempts).toBeGreaterThan(2);
    expect(await database.query('select activations from licenses')).toEqual([{ activations: 2 }, { activations: 2 }]);
  });
});
