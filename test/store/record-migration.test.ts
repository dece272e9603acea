import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { expect, it } from 'vitest';
import { listResolvedRequests } from '../../src/operator/index.ts';
import { openInstance } from '../../src/server/index.ts';
import { kyselyOn } from '../../src/store/engine/sqlite/connection.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { createFolder } from '../support/engines.ts';

it('what an operator resolved before there was a record gets its number, and stays in the history', async () => {
  await using folder = await createFolder();
  const location = join(folder.path, 'lkm.db');
  const database = new DatabaseSync(location);
  const db: Kysely<never> = kyselyOn(database) as never;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  expect((await migrator.migrateTo('0006-customer-search')).error).toBeUndefined();
  await sql`insert into accounts values ('acc_1', 'acme', '2026-11-20T10:00:00.000Z')`.execute(db);
  const details = JSON.stringify({ method: 'POST', path: '/create-key', outcome: 'completed' });
  await sql`insert into audit values
    ('acc_1', 'aud_2', 'idempotency.resolve', 'root@host', 'b2', ${details}, '2026-11-20T10:00:02.000Z'),
    ('acc_1', 'aud_1', 'idempotency.resolve', 'root@host', 'a1', ${details}, '2026-11-20T10:00:01.000Z')
  `.execute(db);
  database.close();

  const resolved = (hash: string, second: number) => ({
    ...{ hash, method: 'POST', path: '/create-key', outcome: 'completed', by: 'root@host' },
    resolvedAt: `2026-11-20T10:00:0${second}.000Z`,
  });
  const history = [resolved('a1', 1), resolved('b2', 2)];
  expect(await listResolvedRequests(location)).toEqual(history);

  const clock = () => Date.parse('2026-11-21T10:00:00.000Z');
  const keys = `insert into signing_keys select 'acc_1', kid, private_pem, public_pem, created_at from signing_keys`;
  await using other = await createFolder();
  const spare = join(other.path, 'spare.db');
  await (await openInstance({ db: spare, clock })).close();
  const withKey = new DatabaseSync(location);
  withKey.exec(`attach '${spare}' as spare; ${keys.replace('from signing_keys', 'from spare.signing_keys')}`);
  withKey.close();

  const instance = await openInstance({ db: location, clock });
  const answer = await instance.fetch(
    new Request('http://lkm.test/audit/list', { headers: { Authorization: `Bearer ${instance.ownerToken}` } }),
  );
  expect(await answer.json()).toMatchObject({
    data: [
      {
        ...{ seq: 1, id: 'aud_1', at: '2026-11-20T10:00:01.000Z', actor: { type: 'operator', id: 'root@host' } },
        ...{ door: 'db', operation: 'idempotency.resolve', resource: { type: 'idempotency_record', id: 'a1' } },
        details: { method: 'POST', path: '/create-key', outcome: 'completed' },
      },
      { seq: 2, id: 'aud_2' },
    ],
  });
  await instance.close();
  expect(await listResolvedRequests(location)).toEqual(history);
});
