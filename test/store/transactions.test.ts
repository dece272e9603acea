import { describe, expect, it } from 'vitest';
import type { Repositories, Store } from '../../src/store/store.ts';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { accountId, device, insertLicense } from '../support/store-fixture.ts';

const addCustomer = (repositories: Repositories, name: string) =>
  repositories.customers.insert({ accountId, id: `cus_${name}`, name, email: `${name}@example.com`, now });

const namesOf = async (store: Store) =>
  (await Array.fromAsync(store.repositories.customers.listAll(accountId))).map(({ name }) => name);

describe.each(engines)('a transaction on $name', (engine) => {
  it('answers what its work answers, once that is written', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    const answer = await store.transaction(async (repositories) => {
      await addCustomer(repositories, 'a');
      return 'done';
    });
    expect([answer, await namesOf(store)]).toEqual(['done', ['a']]);
  });

  it('is undone as a whole when its work fails, and passes the error on', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    const failure = new Error('no');
    const failed = store.transaction(async (repositories) => {
      await addCustomer(repositories, 'a');
      await addCustomer(repositories, 'b');
      throw failure;
    });
    await expect(failed).rejects.toBe(failure);
    expect(await namesOf(store)).toEqual([]);
  });

  it('is undone alone: the others of the same moment are kept and answered', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
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

  it('is undone alone when the database refuses one of its statements', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    const license = await insertLicense(store);
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

  it('sees what it has written itself', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    const seen = await store.transaction(async (repositories) => {
      await addCustomer(repositories, 'a');
      return repositories.customers.find(accountId, 'cus_a');
    });
    expect(seen?.name).toBe('a');
  });

  it('shows nothing to anybody else before it has been committed', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    const seenMeanwhile = await store.transaction(async (repositories) => {
      await addCustomer(repositories, 'a');
      const others = await database.query('select name from customers');
      return [await namesOf(store), others.length];
    });
    expect(seenMeanwhile).toEqual([[], 0]);
    expect(await namesOf(store)).toEqual(['a']);
  });

  it('is seen by the very next read, whatever was read while it was under way', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
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

  it('is committed before it answers, so that an answer is never about something that may be lost', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        await store.transaction((repositories) => addCustomer(repositories, name));
        expect(await database.query(`select name from customers where name = '${name}'`)).toHaveLength(1);
      }),
    );
  });

  it('can wait for something else, and others wait for it', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
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

  it('takes more at once than one batch holds', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    const names = Array.from({ length: 700 }, (_, i) => `n${String(i).padStart(3, '0')}`);
    await Promise.all(names.map((name) => store.transaction((repositories) => addCustomer(repositories, name))));
    expect(await namesOf(store)).toEqual(names);
  });

  it('is refused on a store that is closed, rather than never answered', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    await store.close();
    await expect(store.transaction((repositories) => addCustomer(repositories, 'a'))).rejects.toMatchObject({
      name: 'StorageError',
    });
    await expect(store.transaction((repositories) => addCustomer(repositories, 'b'))).rejects.toMatchObject({
      name: 'StorageError',
    });
  });

  it('is finished when the store is closed in the middle of it', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    const work = store.transaction((repositories) => addCustomer(repositories, 'a'));
    const closed = store.close();
    expect(await Promise.all([work, closed])).toEqual([true, undefined]);
    expect(await database.query('select name from customers')).toHaveLength(1);
  });

  it('that waits keeps no reads waiting, however many there are', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    await insertLicense(store);
    const { promise: signal, resolve: go } = Promise.withResolvers<void>();
    const waiting = Array.from({ length: 30 }, () => store.transaction(() => signal));
    expect(await namesOf(store)).toEqual([]);
    go();
    await Promise.all(waiting);
  });
});

describe.each(engines)('a slot on $name', (engine) => {
  it('is given to no more than there are, whoever asks at the same time', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    const license = await insertLicense(store, { maxActivations: 7 });
    const taken = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        store.transaction(async (repositories) => {
          if (!(await repositories.keys.takeSlot(license, now, null))) return false;
          return repositories.devices.insert(license, device(`host-${i}`));
        }),
      ),
    );
    expect(taken.filter(Boolean)).toHaveLength(7);
    const [row] = await database.query('select activations, (select count(*) from devices) as devices from licenses');
    expect({ ...row }).toEqual({ activations: 7, devices: 7 });
  });

  it('is given to everybody when there is no limit', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    const license = await insertLicense(store, { maxActivations: null });
    const taken = await Promise.all(
      Array.from({ length: 200 }, () =>
        store.transaction((repositories) => repositories.keys.takeSlot(license, now, null)),
      ),
    );
    expect(taken).toEqual(Array(200).fill(true));
  });

  it('is free again when its transaction fails', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    const license = await insertLicense(store, { maxActivations: 1 });
    const failed = store.transaction(async (repositories) => {
      expect(await repositories.keys.takeSlot(license, now, null)).toBe(true);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await store.transaction((repositories) => repositories.keys.takeSlot(license, now, null))).toBe(true);
    expect(await store.transaction((repositories) => repositories.keys.takeSlot(license, now, null))).toBe(false);
  });

  it('can be given back and taken by another, many times at once, without losing count', async () => {
    await using database = await engine.createDatabase();
    const { store } = database;
    const license = await insertLicense(store, { maxActivations: 3 });
    await Promise.all(
      Array.from({ length: 100 }, () =>
        store.transaction(async (repositories) => {
          if (await repositories.keys.takeSlot(license, now, null)) await repositories.keys.freeSlots(license, 1, now);
        }),
      ),
    );
    expect((await store.repositories.keys.find(accountId, license.productId, license.key))?.activations).toBe(0);
  });
});

it('is run again on PostgreSQL when it and another wait for each other', async () => {
  const [engine] = engines.filter(({ name }) => name === 'PostgreSQL');
  await using database = await (engine as (typeof engines)[0]).createDatabase();
  const { store } = database;
  const license = await insertLicense(store, { maxActivations: 2 });
  const other = { ...license, id: 'lic_2', key: '00000-00000-00000-00000-00000' as typeof license.key };
  await store.transaction((repositories) => repositories.keys.insert(other));
  const bothHoldOne = Promise.withResolvers<void>();
  let holding = 0;
  let runs = 0;
  const takeBoth = (first: typeof license, second: typeof license) =>
    store.transaction(async (repositories) => {
      runs += 1;
      await repositories.keys.takeSlot(first, now, null);
      holding += 1;
      if (holding === 2) bothHoldOne.resolve();
      await bothHoldOne.promise;
      return repositories.keys.takeSlot(second, now, null);
    });
  expect(await Promise.all([takeBoth(license, other), takeBoth(other, license)])).toEqual([true, true]);
  expect(runs).toBe(3);
  expect((await database.query('select activations from licenses')).map((row) => ({ ...row }))).toEqual([
    { activations: 2 },
    { activations: 2 },
  ]);
});
