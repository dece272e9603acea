import { describe, expect, it } from 'vitest';
import { openForReading } from '../../src/store/engine/sqlite/driver.ts';
import { accountRepository } from '../../src/store/tables/accounts.ts';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { accountId } from '../support/store-fixture.ts';

const sqlite = engines.filter(({ name }) => name === 'SQLite');

describe.each(sqlite)('a look at a file of $name', (engine) => {
  it('sees what its server writes meanwhile, though nothing stood in its log before', async () => {
    await using database = await engine.createDatabase();
    const emptyLog = () => database.query('pragma wal_checkpoint(truncate)');
    await emptyLog();
    const reading = await openForReading(database.location);
    try {
      const accounts = reading && accountRepository(reading.connection);
      expect(await accounts?.oldest()).toBeNull();
      await database.store.transaction((repositories) =>
        repositories.accounts.insert({ id: accountId, name: 'acme', createdAt: now }),
      );
      await emptyLog();
      expect(await accounts?.oldest()).toMatchObject({ id: accountId });
    } finally {
      await reading?.close();
    }
  });
});
