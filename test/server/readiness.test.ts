import { describe, expect, it } from 'vitest';
import { lkm } from '../cli/fake-io.ts';
import { engineOf } from '../support/engines.ts';
import { refuseInserts } from '../support/refuse-inserts.ts';
import { startTestServer } from '../support/server.ts';

const patient = { timeout: 20_000, interval: 200 };

const CONNECTIONS = `from pg_stat_activity where application_name = 'lkm' and datname = current_database()`;

/** A server on an empty PostgreSQL database, which nothing else has open, and a way round it. */
async function servePostgres() {
  const database = await engineOf('PostgreSQL').createDatabase();
  await database.store.close();
  const running = await startTestServer({ db: database.location });
  return {
    ...running,
    database,
    ready: async () => (await running.call('GET', '/ready')).status,
    doctor: async () => (await lkm(['doctor', '--db', database.location])).stdout,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

describe('a server on PostgreSQL', () => {
  it('is not ready once its database is read-only, is ready as soon as it is not, and says why', async () => {
    await using running = await servePostgres();
    const { database, ready, doctor, logged } = running;
    const [{ name } = {}] = await database.query('select current_database() as name');
    // Holds for connections from now on; those of the server are older.
    await database.query(`alter database ${name} set default_transaction_read_only = on`);
    await expect.poll(ready, patient).toBe(503);
    expect(await logged({ msg: 'not ready' })).toMatchObject({ problem: expect.stringMatching(/is read-only$/) });
    expect(await doctor()).toContain('is read-only');
    await database.query(`select pg_terminate_backend(pid) ${CONNECTIONS}`);
    // The connection that is asked is a new one, which began read-only.
    const renewed = `select pid ${CONNECTIONS} and query like '%pg_advisory_lock_shared%'`;
    await expect.poll(() => database.query(renewed), patient).toHaveLength(1);
    // So did one for changes, which its pool keeps no longer than for the change that was refused.
    expect((await running.call('POST', '/product', { name: 'Viewer' })).status).toBeGreaterThanOrEqual(500);
    await database.query(`alter database ${name} reset default_transaction_read_only`);
    await expect.poll(ready, patient).toBe(200);
    expect(await running.call('POST', '/product', { name: 'Editor' })).toMatchObject({ status: 201 });
  });

  it('is not ready when PostgreSQL had no room for a change, is ready once one works, and says why', async () => {
    await using running = await servePostgres();
    const { database, ready, logged } = running;
    await refuseInserts(database, 'products', { times: 1, code: '53100' });
    expect(await ready()).toBe(200);
    expect((await running.call('POST', '/product', { name: 'Editor' })).status).toBe(500);
    expect(await ready()).toBe(503);
    expect(await logged({ msg: 'not ready' })).toMatchObject({
      problem: expect.stringMatching(/no room left on its disk$/),
    });
    expect((await running.call('POST', '/product', { name: 'Editor' })).status).toBe(201);
    expect(await ready()).toBe(200);
  });
});
