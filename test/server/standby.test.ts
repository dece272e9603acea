import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prepare } from '../../faults/world.ts';
import { type RunningServer, startServer } from '../../src/server/serve.ts';
import { lkm } from '../cli/fake-io.ts';
import { query } from '../support/postgres.ts';
import { type PostgresPair, startPair } from '../support/postgres-server.ts';

// With a real standby, which commits have to wait for.

const patient = { timeout: 20_000, interval: 100 };

let pair: PostgresPair;
let world: Awaited<ReturnType<typeof prepare>>;
let server: RunningServer;
/** Another replica, which knows nothing of what the first one waits for. */
let other: RunningServer;
const log: string[] = [];

beforeAll(async () => {
  pair = await startPair({ fsync: 'off', max_connections: 60 });
  world = await prepare(pair.url);
}, 60_000);
afterAll(() => pair.stop());

beforeEach(async () => {
  await query(pair.url, `alter system set synchronous_standby_names = 's1'`);
  await query(pair.url, 'select pg_reload_conf()');
  await expect
    .poll(() => query(pair.url, `select sync_state from pg_stat_replication`), patient)
    .toEqual([{ sync_state: 'sync' }]);
  log.length = 0;
  const options = { db: pair.both, host: '127.0.0.1', port: 0, rateLimit: null };
  server = await startServer({ ...options, logFormat: 'json', logTo: { write: (line) => log.push(line) } });
  other = await startServer({ ...options, logFormat: 'none', logTo: { write: () => {} } });
  return async () => {
    await Promise.all([server.close(), other.close()]);
    await pair.renewStandby();
  };
}, 60_000);

const create = async (idempotencyKey: string, { url } = server) => {
  const answer = await fetch(`${url}/customer`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.token}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ name: idempotencyKey }),
  });
  return { status: answer.status, body: await answer.text() };
};
const statusOf = async (path: string) => (await fetch(`${server.url}${path}`)).status;
const waiting = () => query(pair.url, `select pid from pg_stat_activity where wait_event = 'SyncRep'`);
const named = (name: string) => query(pair.url, `select name from customers where name = '${name}'`);

async function end(how: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<void> {
  await query(pair.url, `select ${how}(pid) from pg_stat_activity where wait_event = 'SyncRep'`);
}

describe('a commit that waits for a synchronous standby which is gone', { timeout: 90_000 }, () => {
  it.each([
    ['is cancelled', () => end('pg_cancel_backend')],
    ['is terminated', () => end('pg_terminate_backend')],
    ['is cut off by a restart', () => pair.restart()],
    ['is cut off by a restart at once', () => pair.restartAtOnce()],
  ])('and %s is acknowledged neither then nor to a retry, and happens once after a failover', async (how, stop) => {
    await pair.stopStandby();
    const first = create(how);
    await expect.poll(waiting, patient).toHaveLength(1);
    await stop();
    expect((await first).status).toBe(500);
    expect(await named(how)).toHaveLength(1);

    // The replay of another replica waits for the standby as the commit did.
    const replay = create(how, other);
    await expect.poll(waiting, patient).toHaveLength(1);
    expect((await create(how)).status).toBe(409);

    await pair.failOver();
    expect(await named(how)).toEqual([]);
    expect((await replay).status).toBe(500);
    await expect.poll(async () => (await create(how)).status, { ...patient, timeout: 10_000 }).toBe(201);
    expect(await named(how)).toHaveLength(1);
  });

  it('is replayed once the standby has it', async () => {
    await pair.stopStandby();
    const first = create('back');
    await expect.poll(waiting, patient).toHaveLength(1);
    await end('pg_terminate_backend');
    expect((await first).status).toBe(500);
    await pair.startStandby();
    await expect.poll(async () => (await create('back')).status, patient).toBe(201);
    await pair.failOver();
    expect(await named('back')).toHaveLength(1);
  });

  it('keeps others from being sent, is the reason in the log, and makes the server not ready', async () => {
    expect(await statusOf('/ready')).toBe(200);
    await pair.stopStandby();
    const first = create('held');
    await expect.poll(() => statusOf('/ready'), patient).toBe(503);
    expect(log.join('')).toContain('synchronous standby (s1)');
    // Two seconds after the commit began it counts as slow.
    const isSlow = `wait_event = 'SyncRep' and query_start < clock_timestamp() - interval '2.1 s'`;
    await expect.poll(() => query(pair.url, `select 1 from pg_stat_activity where ${isSlow}`), patient).toHaveLength(1);
    const started = performance.now();
    expect(await Promise.all(Array.from({ length: 30 }, (_, at) => create(`more ${at}`)))).toEqual(
      Array.from({ length: 30 }, () => ({ status: 503, body: expect.any(String) })),
    );
    expect(performance.now() - started).toBeLessThan(3_000);
    expect((await first).status).toBe(500);
    // An abandoned commit keeps its place: there is no second one.
    expect(await waiting()).toHaveLength(1);
    expect(await query(pair.url, `select 1 from pg_stat_activity where application_name = 'lkm'`)).toSatisfy(
      (rows: unknown[]) => rows.length <= 17,
    );
    await pair.startStandby();
    await expect.poll(async () => (await create('held')).status, patient).toBe(201);
    await expect.poll(() => statusOf('/ready'), patient).toBe(200);
  });
});

describe('the failover of docs/operating.md', { timeout: 90_000 }, () => {
  const page = readFileSync('docs/operating.md', 'utf8');
  const [, block = ''] = /\*\*Failover\.\*\*.*?```sh\n(.*?)```/s.exec(page) ?? [];
  const lines = block
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +#.*/, ''));

  it('keeps what was acknowledged, and has every server find the new primary within ten seconds', async () => {
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['pg_ctl', 'pg_ctl', 'psql', 'curl']);
    const standby = pair.both.replace(`${new URL(pair.url).host},`, '').replace(`,${new URL(pair.url).host}`, '');
    // As on a primary: the standby may have been one.
    await query(standby, `alter system set synchronous_standby_names = 's1'`);
    expect((await create('before')).status).toBe(201);

    const type: Readonly<Record<string, (words: string) => Promise<unknown>>> = {
      pg_ctl: pair.pgCtl,
      async psql(words) {
        expect(words).toMatch(/^-h db2\.example /);
        for (const [, text = ''] of words.matchAll(/-c "(.*?)"/g)) await query(standby, text);
      },
      async curl(words) {
        const { pathname } = new URL(words.replace('-f ', ''));
        for (const { url } of [server, other]) {
          const status = async () => (await fetch(url + pathname)).status;
          await expect.poll(status, { ...patient, timeout: 10_000 }).toBe(200);
        }
      },
    };
    for (const line of lines) {
      const [, program = '', words = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
      await type[program]?.(words);
    }
    expect(await query(standby, `select name from customers where name = 'before'`)).toHaveLength(1);
    expect((await create('after')).status).toBe(201);
    expect((await create('before', other)).status).toBe(201);
    expect(await query(standby, `select name from customers where name = 'before'`)).toHaveLength(1);
  });
});

describe('a server whose primary has become a standby', { timeout: 90_000 }, () => {
  it('is not ready, and tells it as doctor does', async () => {
    const db = pair.url;
    const told: string[] = [];
    const logTo = { write: (line: string) => void told.push(line) };
    const alone = await startServer({ db, host: '127.0.0.1', port: 0, rateLimit: null, logFormat: 'json', logTo });
    const ready = async () => (await fetch(`${alone.url}/ready`)).status;
    expect(await ready()).toBe(200);
    await pair.failOver();
    await pair.renewStandby();
    const change = async () => (await create('on a standby', alone)).status;
    await expect.poll(change, patient).toBe(503);
    // The cause, and not what became of that change, which counts for ten seconds.
    const isTold = () => told.join('').includes('is a standby');
    await expect.poll(async () => [await ready(), isTold()], { ...patient, timeout: 5_000 }).toEqual([503, true]);
    await alone.close();
    const { code, stdout } = await lkm(['doctor', '--db', db]);
    expect({ code, stdout }).toMatchObject({ code: 13, stdout: expect.stringContaining('is read-only: a standby') });
  });
});
