import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { createFolder, engineOf } from '../support/engines.ts';
import { freePort } from '../support/ports.ts';
import { connect } from '../support/postgres.ts';

/** PgBouncer, of the system. */
const pgBouncer = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(existsSync);

/** PgBouncer before a database of its own; as root, under the user `nobody`, since it refuses to be root. */
async function openPooler(settings: Readonly<Record<string, string>>) {
  const database = await engineOf('PostgreSQL').createDatabase();
  const folder = await createFolder();
  const target = new URL(database.location);
  const port = await freePort();
  const user = `"${target.username}" "${decodeURIComponent(target.password)}"`;
  writeFileSync(join(folder.path, 'users'), `${user}\n`);
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: join(folder.path, 'users'),
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const place = `host=${target.hostname} port=${target.port} dbname=${target.pathname.slice(1)}`;
  const config = join(folder.path, 'pgbouncer.ini');
  writeFileSync(config, `[databases]\nlkm = ${place}\n[pgbouncer]\n${lines.join('\n')}\n`);
  chmodSync(folder.path, 0o755);
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const pooler = spawn(pgBouncer ?? '', ['-q', ...asNobody, config], { stdio: 'ignore' });
  const url = Object.assign(new URL(target), { port: String(port), pathname: '/lkm' }).href;
  await expect.poll(() => canConnect(url), { timeout: 5_000 }).toBe(true);
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      await ended(pooler);
      await folder[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

const canConnect = (url: string): Promise<boolean> =>
  connect(url).then(
    (client) => client.end().then(() => true),
    () => false,
  );

async function ended(child: ChildProcess): Promise<void> {
  const exited = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await exited;
}

describe.skipIf(pgBouncer === undefined)('a database behind PgBouncer', () => {
  it('is a database like another while each client keeps its connection', async () => {
    expect(execFileSync(pgBouncer ?? '', ['--version'], { encoding: 'utf8' })).toMatch(/^PgBouncer/);
    await using pooler = await openPooler({ pool_mode: 'session' });
    const store = await openStore(pooler.url);
    const names = await Promise.all(Array.from({ length: 12 }, () => store.repositories.accounts.next('')));
    expect(names).toEqual(Array.from({ length: 12 }, () => null));
    expect(await store.transaction((repositories) => repositories.tryLock('a name'))).toBe(true);
    await store.close();
  });

  it.each([
    ['each transaction', { pool_mode: 'transaction' }],
    [
      'each transaction, one after the other',
      { pool_mode: 'transaction', server_round_robin: '1', min_pool_size: '4' },
    ],
    ['each transaction, of a few', { pool_mode: 'transaction', default_pool_size: '2' }],
    ['each statement', { pool_mode: 'statement' }],
  ])('is refused in words when %s gets another connection', async (_, settings) => {
    await using pooler = await openPooler(settings);
    await expect(openStore(pooler.url)).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(/is behind a connection pooler that gives each transaction another connection$/),
      hint: expect.stringContaining('pool_mode = session'),
    });
  });
});
