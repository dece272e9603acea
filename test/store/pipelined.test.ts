import { describe, expect, it as plain } from 'vitest';
import type { AccountId, Instant } from '../../src/contract/scalars.ts';
import { createPrepare } from '../../src/store/engine/postgres/connection.ts';
import { transact } from '../../src/store/engine/postgres/transaction.ts';
import { sql } from '../../src/store/engine/sql.ts';
import type { Repositories } from '../../src/store/store.ts';
import { now } from '../domain/examples.ts';
import { engineOf, type TestDatabase } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { refuseInserts } from '../support/refuse-inserts.ts';
import { accountId, databaseWithLicense } from '../support/store-fixture.ts';

const postgres = engineOf('PostgreSQL');
const it = testsOn(postgres);

/** Adds an entry, whose answer nobody waits for. */
const addEntry = ({ outbox }: Repositories, id: string) =>
  outbox.insert({ accountId: accountId as AccountId, id, at: now as Instant, entry: {} as never });

describe('what a transaction on PostgreSQL sends without waiting for the answer', () => {
  const ids = async (database: TestDatabase) =>
    (await database.query('select id from outbox order by id')).map(({ id }) => id);

  it.each([
    ['the commit', async () => {}],
    ['the next statement', ({ outbox }: Repositories) => outbox.count()],
  ])('fails with its own error, which %s throws', async (_, follow) => {
    await using database = await databaseWithLicense(postgres);
    await refuseInserts(database, 'outbox', { times: 1, code: '22000' });
    const failing = database.store.transaction(async (repositories) => {
      await addEntry(repositories, 'aud_1');
      await addEntry(repositories, 'aud_2');
      await follow(repositories);
    });
    await expect(failing).rejects.toMatchObject({ name: 'StorageError', cause: { code: '22000' } });
    expect(await ids(database)).toEqual([]);
    await database.store.transaction((repositories) => addEntry(repositories, 'aud_3'));
    expect(await ids(database)).toEqual(['aud_3']);
  });

  it('has the transaction run again after a conflict', async ({ database }) => {
    await refuseInserts(database, 'outbox', { times: 2, code: '40001' });
    let attempts = 0;
    await database.store.transaction(async (repositories) => {
      attempts += 1;
      await addEntry(repositories, 'aud_1');
    });
    expect(attempts).toBe(3);
    expect(await ids(database)).toEqual(['aud_1']);
  });

  it('is undone with the part of the transaction that it is in, also when it has failed', async ({ database }) => {
    await refuseInserts(database, 'outbox', { times: 1, code: '22000' });
    await database.store.transaction(async (repositories) => {
      const part = repositories.nested(async () => {
        await addEntry(repositories, 'aud_1');
        throw new Error('refused by a rule');
      });
      await expect(part).rejects.toThrow('refused by a rule');
      await addEntry(repositories, 'aud_2');
    });
    expect(await ids(database)).toEqual(['aud_2']);
  });
});

describe('a transaction on PostgreSQL that is given up', () => {
  it.each([
    ['before it has sent anything', async () => {}],
    ['before an answer', (repositories: Repositories) => addEntry(repositories, 'aud_1')],
  ])('%s is undone, and its connection goes on', async (_, before) => {
    await using database = await databaseWithLicense(postgres);
    for (let turn = 0; turn < 12; turn += 1) {
      const givenUp = database.store.transaction(async (repositories) => {
        await before(repositories);
        throw new Error('given up');
      });
      await expect(givenUp).rejects.toThrow('given up');
    }
    expect(await database.query('select id from outbox')).toEqual([]);
  });
});

describe('a transaction on PostgreSQL that does not begin', () => {
  const openPool = () => {
    const sent: string[] = [];
    const client = {
      query: async (statement: string | { readonly text: string }) => {
        const text = typeof statement === 'string' ? statement : statement.text;
        sent.push(text);
        if (text === 'BEGIN') throw new Error('cancelled');
        return { rows: [], rowCount: 1 };
      },
      connection: { stream: { cork() {}, uncork() {} } },
      release: () => {},
    };
    return { sent, pool: { connect: async () => client } as never };
  };

  plain.each(['run', 'send'] as const)('sends no change: %s', async (method) => {
    const { sent, pool } = openPool();
    const work = transact(pool, createPrepare(), (db) => db[method](sql`delete from products`));
    await expect(work).rejects.toMatchObject({ name: 'StorageError', cause: { message: 'cancelled' } });
    expect(sent).toEqual(['BEGIN', 'ROLLBACK']);
  });

  plain('and is given up before it has sent anything fails with the error of the work', async () => {
    const { sent, pool } = openPool();
    const work = transact(pool, createPrepare(), async () => {
      throw new Error('given up');
    });
    await expect(work).rejects.toThrow('given up');
    expect(sent).toEqual(['BEGIN', 'ROLLBACK']);
  });

  plain('fails at its first read, and reads nothing else', async () => {
    const { sent, pool } = openPool();
    const work = transact(pool, createPrepare(), async (db) => {
      await db.all(sql`select 1`);
      await db.all(sql`select 2`);
    });
    await expect(work).rejects.toMatchObject({ name: 'StorageError', cause: { message: 'cancelled' } });
    expect(sent).toEqual(['BEGIN', 'select 1', 'ROLLBACK']);
  });
});
