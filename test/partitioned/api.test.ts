import { expect, inject, it } from 'vitest';
import { databaseUrl, query } from '../support/postgres.ts';

// The tests of these run here once more, on databases whose tables are in partitions.
import '../api/POST-key-activate.test.ts';
import '../api/slot-race.test.ts';

it('runs on tables in partitions', async () => {
  const url = databaseUrl(inject('postgres'), inject('postgresTemplate'));
  const [row] = await query(url, `select relkind from pg_class where oid = 'licenses'::regclass`);
  expect(row).toEqual({ relkind: 'p' });
});
