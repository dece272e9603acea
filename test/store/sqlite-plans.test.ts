import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { connect } from '../../src/store/engine/sqlite/connection.ts';
import { keyListRepository } from '../../src/store/tables/keys/lists.ts';
import { auditRepository } from '../../src/store/tables/record/audit.ts';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { accountId } from '../support/store-fixture.ts';

it.each(engines.filter(({ name }) => name === 'SQLite'))(
  '$name plans a statement once, however many rows it is asked for',
  async (engine) => {
    await using database = await engine.createDatabase();
    using file = new DatabaseSync(database.location, { readOnly: true });
    const connection = connect(file);
    const list = (limit: number) =>
      Promise.all([
        keyListRepository(connection).page(
          accountId,
          { productIds: null, expiresBefore: now },
          { limit, offset: limit },
        ),
        keyListRepository(connection).page(accountId, { productIds: ['a', 'b'] }, { limit, after: `lic_${limit}` }),
        auditRepository(connection).list(accountId, { after: 0, until: 100, limit }),
      ]);
    let compiled = 0;
    file.setAuthorizer(() => {
      compiled += 1;
      return 0;
    });
    await list(1);
    expect(compiled).toBeGreaterThan(0);
    compiled = 0;
    await list(2);
    expect(compiled).toBe(0);
  },
);
