import { describe, expect, it } from 'vitest';
import type { Repositories, Store } from '../../src/store/store.ts';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { accountId, databaseWithLicense } from '../support/store-fixture.ts';

const addCustomer = (repositories: Repositories, name: string) =>
  repositories.customers.insert({ accountId, id: `cus_${name}`, name, email: `${name}@example.com`, now });

const namesOf = async (store: Store) =>
  (await Array.fromAsync(store.repositories.customers.list(accountId).all())).map(({ name }) => name);

describe.each(engines)('a transaction on $name', (engine) => {
  const it = testsOn(engine);

  it('is undone as a whole when its work fails, and passes the error on', async ({ store }) => {
    const failure = new Error('no');
    const failed = store.transaction(async (repositories) => {
      await addCustomer(repositories, 'a');
      await addCustomer(repositories, 'b');
      throw failure;
    });
    await expect(failed).rejects.toBe(failure);
    expect(await namesOf(store)).toEqual([]);
  });

  it('is undone alone: the others of the same moment are kept and answered', async ({ store }) => {
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((name) =>
        store.transaction(async (repositories) => {
          await addCustomer(repositories, name);
          if (name === 'b' || name === 'd') throw new Error(`no ${name}`);
          return name;
        }),
      ),
    );
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: new Error('no b') },
      { status: 'fulfilled', value: 'c' },
      { status: 'rejected', reason: new Error('no d') },
      { status: 'fulfilled', value: 'e' },
    ]);
    expect(await namesOf(store)).toEqual(['a', 'c', 'e']);
  });

  it('is undone alone when the database refuses one of its statements', async ({ store, license }) => {
    const outcomes = await Promise.allSettled([
      store.transaction((repositories) => addCustomer(repositories, 'a')),
      store.transaction(async (repositories) => {
        await addCustomer(repositories, 'b');
        await repositories.keys.insert(license);
      }),
      store.transaction((repositories) => addCustomer(repositories, 'c')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await namesOf(store)).toEqual(['a', 'c']);
  });

  it('shows nothing to anybody else before it has been committed', async ({ database, store }) => {
    const seenMeanwhile = await store.transaction(async (repositories) => {
      await addCustomer(repositories, 'a');
      const others = await database.query('select name from customers');
      return [await namesOf(store), others.length];
    });
    expect(seenMeanwhile).toEqual([[], 0]);
    expect(await namesOf(store)).toEqual(['a']);
  });

  it('is seen by the very next read, whatever was read while it was under way', async ({ store }) => {
    const before = namesOf(store);
    const written = store.transaction(async (repositories) => {
      await addCustomer(repositories, 'a');
      // Readers have connections of their own, so that only this keeps the commit behind the first read.
      await before;
      return namesOf(store);
    });
    const after = written.then(() => namesOf(store));
    expect([await before, await written, await after]).toEqual([[], [], ['a']]);
  });

  it('is committed before it answers, so that an answer is never about something that may be lost', async ({
    database,
    store,
  }) => {
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        await store.transaction((repositories) => addCustomer(repositories, name));
        expect(await database.query(`select name from customers where name = '${name}'`)).toHaveLength(1);
      }),
    );
  });

  it('can wait for something else, and others wait for it', async ({ store }) => {
    const { promise: signal, resolve: go } = Promise.withResolvers<void>();
    const slow = store.transaction(async (repositories) => {
      await signal;
      return addCustomer(repositories, 'slow');
    });
    const quick = store.transaction((repositories) => addCustomer(repositories, 'quick'));
    setImmediate(go);
    await Promise.all([slow, quick]);
    expect((await namesOf(store)).sort()).toEqual(['quick', 'slow']);
  });

  it('takes more at once than one batch holds', async ({ store }) => {
    const names = Array.from({ length: 700 }, (_, i) => `n${String(i).padStart(3, '0')}`);
    await Promise.all(names.map((name) => store.transaction((repositories) => addCustomer(repositories, name))));
    expect(await namesOf(store)).toEqual(names);
  });

  it('is refused on a store that is closed, rather than never answered', async ({ store }) => {
    await store.close();
    await expect(store.transaction((repositories) => addCustomer(repositories, 'a'))).rejects.toMatchObject({
      name: 'StorageError',
    });
  });

  it('is finished when the store is closed in the middle of it', async ({ database, store }) => {
    const work = store.transaction((repositories) => addCustomer(repositories, 'a'));
    const closed = store.close();
    expect(await Promise.all([work, closed])).toEqual([true, undefined]);
    expect(await database.query('select name from customers')).toHaveLength(1);
  });

  it('that waits keeps no reads waiting, however many there are', async ({ store }) => {
    const { promise: signal, resolve: go } = Promise.withResolvers<void>();
    const waiting = Array.from({ length: 30 }, () => store.transaction(() => signal));
    expect(await namesOf(store)).toEqual([]);
    go();
    await Promise.all(waiting);
  });
});

describe.each(engines)('a slot on $name', (engine) => {
  it('can be given back and taken by another, many times at once, without losing count', async () => {
    await using database = await databaseWithLicense(engine, { maxActivations: 3 });
    const { store, license } = database;
    await Promise.all(
      Array.from({ length: 100 }, () =>
        store.transaction(async (repositories) => {
          if (await repositories.keys.takeSlot(license, now, license))
            await repositories.keys.freeSlots(license, 1, now);
        }),
      ),
    );
    expect((await store.repositories.keys.find(accountId, license.productId, license.key))?.activations).toBe(0);
  });
});
