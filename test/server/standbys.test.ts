import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { lkm } from '../cli/fake-io.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { startTestServer } from '../support/server.ts';
import { type StandbyServer, startStandby } from '../support/standby.ts';

let primary: PostgresServer;
let standby: StandbyServer;

beforeAll(async () => {
  primary = await startPostgres({ fsync: 'off' });
  standby = await startStandby(primary.url);
  await (await openStore(primary.url)).close();
});

afterAll(async () => {
  await standby?.stop();
  await primary?.stop();
});

const passwordOf = (url: string) => new URL(url).password;
const shownOf = (url: string) => url.replace(`:${passwordOf(url)}@`, '@');

interface Found {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
}

/** What `lkm serve --check-config` says of standbys. */
async function checked(dbRead: string): Promise<Found[]> {
  const env = { LKM_DB: primary.url, LKM_DB_READ: dbRead };
  const { stdout, stderr } = await lkm(['serve', '--check-config', '--json', '--port', '0'], { env });
  expect(stdout + stderr).not.toContain(passwordOf(primary.url));
  const { checks }: { checks: Found[] } = JSON.parse(stdout);
  return checks.filter(({ check }) => check === 'standby');
}

describe('lkm serve --db-read', { timeout: 60_000 }, () => {
  it('is checked by --check-config: each standby, what it follows and how far it is', async () => {
    const elsewhere = standby.url.replace(/:\d+\//, ':1/');
    expect(await checked(`${standby.url},${primary.url}, ${elsewhere}`)).toMatchObject([
      { status: 'ok', detail: expect.stringMatching(`^${shownOf(standby.url)}, \\d+ bytes? of the log behind$`) },
      { status: 'fail', detail: expect.stringMatching(/^the PostgreSQL database \S+\/postgres is no standby$/) },
      { status: 'fail', detail: 'the PostgreSQL database 127.0.0.1:1/postgres does not answer' },
    ]);
  });

  it.each([
    ['lkm.db', 'postgres://standby.example/lkm', '--db-read goes with a PostgreSQL database in --db'],
    ['postgres://db.example/lkm', 'standby.db', '--db-read names PostgreSQL servers: postgres://HOST/DATABASE'],
    ['postgres://db.example/lkm', 'postgres://a:b#c@d/lkm', 'the address of the database cannot be read'],
  ])('on %s refuses %s', async (db, dbRead, message) => {
    const { code, stderr } = await lkm(['serve', '--db', db, '--db-read', dbRead]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('has requests read from it, says in metrics and log when it is away, and goes on without', async () => {
    const metrics = { host: '127.0.0.1', port: 0 };
    await using server = await startTestServer({ db: primary.url, standbys: [standby.url], metrics });
    const numbers = async () => {
      const text = await (await fetch(server.server.metricsUrl ?? '')).text();
      return Object.fromEntries(
        text.split('\n').flatMap((line) => (/^lkm_standby/.test(line) ? [line.split(' ')] : [])),
      );
    };
    await expect.poll(async () => (await numbers()).lkm_standbys_used, { timeout: 10_000 }).toBe('1');
    const { body } = await server.call('POST', '/product', { name: 'Engine Pro' });
    const list = async () => (await server.call('GET', '/product')).body.data;
    const before = Number((await numbers())['lkm_standby_reads_total{from="standby"}']);
    expect(await list()).toMatchObject([{ id: body.data.id }]);
    expect(Number((await numbers())['lkm_standby_reads_total{from="standby"}'])).toBeGreaterThan(before);

    await standby.kill();
    expect(await list()).toMatchObject([{ id: body.data.id }]);
    const name = `the PostgreSQL database ${new URL(standby.url).host}/postgres`;
    expect(await server.logged({ msg: 'no reads go to the standby' })).toMatchObject({ standby: name, level: 40 });
    expect(await numbers()).toMatchObject({ lkm_standbys_used: '0' });
    await standby.start();
    expect(await server.logged({ msg: 'reads go to the standby' })).toMatchObject({ standby: name });
  });
});
