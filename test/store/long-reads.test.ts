import { describe, expect, vi } from 'vitest';
import type { EventType } from '../../src/contract/events.ts';
import type { Caller } from '../../src/domain/access.ts';
import { listEvents } from '../../src/service/events.ts';
import { connect, createPrepare } from '../../src/store/engine/postgres/connection.ts';
import { openPool } from '../../src/store/engine/postgres/pool.ts';
import { raw } from '../../src/store/engine/sql.ts';
import { ReadTooBroad } from '../../src/store/errors.ts';
import { engineOf, engines, type TestDatabase } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { accountId, insertLicense } from '../support/store-fixture.ts';

describe('a read that would take for ever', () => {
  it('is ended on PostgreSQL after a time', async () => {
    await using database = await engineOf('PostgreSQL').createDatabase();
    const pool = await openPool(database.location);
    try {
      const client = await pool.connect();
      await client.query('set statement_timeout = 50');
      const connection = connect(client, createPrepare());
      await expect(connection.first(raw('select pg_sleep(5)'))).rejects.toThrow(ReadTooBroad);
      client.release(true);
    } finally {
      await pool.end();
    }
  });

  it('is refused with a message that says what to do, and not with one to try again', async ({ world }) => {
    vi.spyOn(world.store.repositories.keyLists, 'page').mockRejectedValue(new ReadTooBroad(new Error('ended')));
    const { status, body } = await world.call('admin', 'GET', '/key/list?cursor=');
    expect(status).toBe(400);
    expect(body).toEqual({
      code: 1,
      message: 'This request reads too much: narrow it down with filters, or read the list part by part',
    });
  });
});

/** One licence has as many events and one more: the last two are of rare types, all before them of one that is not. */
const MANY = 50_000;

const rare = { type: ['license.blocked', 'license.unblocked'] satisfies EventType[], limit: 10 };
const ofLicense = { ...rare, resourceId: 'lic_1' };

async function insertEvents({ store, query }: TestDatabase): Promise<void> {
  await insertLicense(store);
  await query(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY} + 1)
    insert into events (account_id, seq, type, subject_id, content)
    select '${accountId}', i, case i when ${MANY} then '${rare.type[0]}' when ${MANY} + 1 then '${rare.type[1]}'
      else 'session.checked_out' end, 'lic_1', '{"address":null}' from n`);
  await query(`insert into record_heads (account_id, audit_seq, audit_hash, event_seq, checkpoint_seq)
    values ('${accountId}', 0, '', ${MANY} + 1, 0)`);
}

describe('events of a rare type', () => {
  const caller = { accountId, kind: 'admin', scopes: new Set() } as unknown as Caller;

  // So that each reads a bounded number of rows.
  it.each(
    engines.flatMap((engine) => [
      { engine, of: 'an account', filters: rare },
      { engine, of: 'one licence', filters: ofLicense },
    ]),
  )('of $of are all found by going on after each part, on $engine.name', async ({ engine, filters }) => {
    await using database = await engine.createDatabase();
    await insertEvents(database);
    const { repositories } = database.store;
    const parts: { count: number; last: number }[] = [];
    for (let after = 0; after < MANY + 1; ) {
      const { items, meta } = await listEvents({ repositories, caller }, { ...filters, after });
      expect(meta.last).toBeGreaterThan(after);
      parts.push({ count: items.length, last: meta.last });
      after = meta.last;
    }
    expect(parts).toEqual([
      { count: 0, last: 20_000 },
      { count: 0, last: 40_000 },
      { count: 2, last: MANY + 1 },
    ]);
  });
});
