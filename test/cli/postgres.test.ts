import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { migrations } from '../../src/store/migrations/index.ts';
import { query } from '../support/postgres.ts';
import { lkm, type Surroundings, tempFolder } from './fake-io.ts';
import { started } from './started.ts';

const server = new URL(inject('postgres'));
const password = 's3cret-of-the-database';
const user = `lkm_cli_${randomUUID().slice(0, 8)}`;
const databases: string[] = [];

beforeAll(() => query(server.href, `create role ${user} superuser login password '${password}'`));

afterAll(async () => {
  for (const name of databases) await query(server.href, `drop database ${name} with (force)`);
  await query(server.href, `drop role ${user}`);
});

/** A new database: its address with the password, as it may be shown, and commands that run on it. */
async function newDatabase() {
  const name = `${user}_shop${databases.length + 1}`;
  await query(server.href, `create database ${name}`);
  databases.push(name);
  const shown = `postgres://${user}@${server.host}/${name}`;
  const url = shown.replace('@', `:${password}@`);
  const cwd = tempFolder();
  const at = (argv: string[], more: Surroundings = {}) =>
    lkm(argv, { cwd, ...more, env: { LKM_DB: url, NO_COLOR: '1', ...more.env } });
  return { url, shown, cwd, at };
}

describe('lkm on PostgreSQL', () => {
  it('issues, shows and signs as on a file', async () => {
    const { at } = await newDatabase();
    const product = (await at(['products', 'create', '--name', 'Engine Pro', '-q', '--create'])).stdout.trim();
    const key = (await at(['keys', 'create', '-P', product, '-q'])).stdout.trim();
    expect((await at(['keys', 'sign', key, '-P', product, '--host-id', 'h1', '-o', 'a.lic'])).code).toBe(0);
    expect((await at(['keys', 'verify', 'a.lic', '--host-id', 'h1'])).stdout).toBe('ok\n');
    expect((await at(['keys', 'get', key, '-P', product, '--fields', 'activations'])).stdout).toBe('1\n');
  });

  it('takes the tour', async () => {
    const { at, url, shown } = await newDatabase();
    const { code, stdout } = await at(['quickstart', '--db', url]);
    expect(code).toBe(0);
    expect(stdout).toContain(`--db ${shown}\n`);
    expect(stdout).not.toContain(password);
  });

  it('is migrated, and says how far it is', async () => {
    const { at, shown } = await newDatabase();
    const pending = Object.keys(migrations);
    const status = JSON.parse((await at(['db', 'status', '--json'])).stdout);
    expect(status).toEqual({ db: shown, engine: 'PostgreSQL', done: [], pending, unknown: [], search: null });
    expect((await at(['db', 'migrate', '-q'])).stdout.trim().split('\n')).toEqual(pending);
    expect((await at(['db', 'status', '--fields', 'search'])).stdout).toBe('indexed\n');
  });

  it('is found behind a host that is away, in an address of several', async () => {
    const { url, at } = await newDatabase();
    const db = url.replace(server.host, `${server.hostname}:1,${server.host}`);
    expect((await at(['products', 'create', '--name', 'Engine Pro', '-q', '--create', '--db', db])).code).toBe(0);
    const { stdout } = await at(['doctor', '--db', db]);
    expect(stdout).toContain(`${server.hostname}:1,${server.host}`);
  });

  it('is copied whatever time-outs the user has', async () => {
    const { url, at } = await newDatabase();
    await at(['products', 'create', '--name', 'Engine Pro', '-q', '--create']);
    const short = `${user}_short`;
    await query(server.href, `create role ${short} superuser login password '${password}'`);
    await query(server.href, `alter role ${short} set statement_timeout = 30`);
    await query(server.href, `alter role ${short} set idle_in_transaction_session_timeout = 1`);
    const db = url.replace(user, short);
    expect(await at(['db', 'copy', db, 'copied.db'])).toMatchObject({ code: 0 });
    await query(server.href, `drop role ${short}`);
  });

  it('receives a file, and gives it back', async () => {
    const { at, url, shown, cwd } = await newDatabase();
    const create = ['products', 'create', '--name', 'Engine Pro', '-q', '--db', 'a.db', '--create'];
    const product = (await at(create)).stdout.trim();
    const there = await at(['db', 'copy', 'a.db', url]);
    expect(there).toMatchObject({ code: 0, stderr: expect.stringContaining(`copied 9 rows to ${shown}\n`) });
    expect((await at(['products', 'list', '-q'])).stdout).toBe(`${product}\n`);
    // -1 for a table whose content the planner does not know.
    expect(await query(url, "select reltuples from pg_class where relname = 'products'")).toEqual([{ reltuples: 1 }]);
    const back = await at(['db', 'copy', url, 'b.db']);
    expect(back.stdout).toBe(there.stdout);
    expect((await at(['db', 'copy', 'a.db', url])).code).toBe(13);
    expect((await lkm(['products', 'list', '-q', '--db', 'b.db'], { cwd })).stdout).toBe(`${product}\n`);
  });

  it('is served with as many connections as the command says, and each request has its turn', async () => {
    const { url, cwd } = await newDatabase();
    const { printed, stop } = await started(['--json', '--db', url, '--db-connections', '3'], { cwd });
    const { url: address } = JSON.parse(printed.stdout);
    const config = JSON.parse(readFileSync(join(cwd, '.config/lkm/config.json'), 'utf8'));
    const authorization = `Bearer ${config.profiles.local.token}`;
    const ask = (method: string) =>
      fetch(`${address}/product`, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{"name":"Engine Pro"}' }),
      });
    const answers = await Promise.all(
      ['GET', 'POST'].flatMap((method) => Array.from({ length: 20 }, () => ask(method))),
    );
    expect(Map.groupBy(answers, ({ status }) => status)).toEqual(
      new Map([200, 201].map((status) => [status, expect.objectContaining({ length: 20 })])),
    );
    const open = `select count(*)::int as open from pg_stat_activity
      where application_name = 'lkm' and datname = current_database()`;
    expect(await query(url, open)).toEqual([{ open: 3 }]);
    await stop();
  });

  it('is served by several at once, and the profile is that of the newest', async () => {
    const { at, url, shown, cwd } = await newDatabase();
    const first = await started(['--json', '--db', url], { cwd });
    const second = await started(['--db', url], { cwd, pid: 4122 });
    expect(JSON.parse(first.printed.stdout)).toMatchObject({ event: 'ready', db: shown });
    expect(second.printed.stderr).toContain(`  database  ${shown}\n  profile   local\n`);
    const config = JSON.parse(readFileSync(join(cwd, '.config/lkm/config.json'), 'utf8'));
    const other = /ready at (\S+)/.exec(second.printed.stderr)?.[1] ?? '';
    expect(config.profiles.local).toEqual({ baseUrl: other, token: expect.any(String), db: shown, pid: 4122 });
    expect((await lkm(['products', 'create', '--name', 'Engine Pro', '-q'], { cwd })).code).toBe(0);
    const env = { LKM_DB: '', LKM_TOKEN: config.profiles.local.token };
    const listed = await at(['products', 'list', '--base-url', other, '--fields', 'name'], { env });
    expect(listed.stdout).toBe('Engine Pro\n');
    expect([await first.stop(), await second.stop()]).toEqual([0, 0]);
    const printed = [first, second].map((one) => one.printed.stdout + one.printed.stderr).join('');
    expect(printed + JSON.stringify(config)).not.toContain(password);
  });
});

describe('the password of a database', () => {
  it('is in no error, whatever fails', async () => {
    const { url } = await newDatabase();
    const wrong = [
      url.replace(password, `${password}-wrong`),
      url.replace(/shop\d+$/, 'nowhere'),
      url.replace(server.host, `${server.hostname}:1`),
      url.replace(server.hostname, 'no host'),
      url.replace(server.hostname, '%zz'),
      url.replace(server.host, `${server.hostname}:1,${server.hostname}:2`),
      url.replace(server.host, `${server.host},${server.host}`).replace(/shop\d+$/, 'nowhere'),
      `${url}?sslmode=require`,
      `postgres://${server.host}/nowhere?user=${user}&password=${password}`,
    ];
    for (const db of wrong) {
      for (const argv of [
        ['products', 'list'],
        ['db', 'status'],
        ['serve', '--port', '0'],
        ['db', 'copy', db, db],
      ]) {
        const ran = await lkm([...argv, '--debug', ...(argv[1] === 'copy' ? [] : ['--db', db])]);
        expect(ran.code, `${argv[0]} on ${db}`).not.toBe(0);
        expect(ran.stdout + ran.stderr, `${argv[0]} on ${db}`).not.toContain(password);
      }
    }
  });

  it('is in no file of a pending change and in no line to run again', async () => {
    const { url, shown, cwd } = await newDatabase();
    const argv = ['products', 'create', '--name', 'Engine Pro', '--db', url, '--create'];
    const ran = await lkm(argv, { cwd, stdout: 'ENOSPC' });
    expect(ran.code).toBe(13);
    expect(ran.stderr).toContain(
      `    LKM_DB='${shown.replace('@', ':***@')}' lkm products create --name 'Engine Pro' --create`,
    );
    const folder = join(cwd, '.local/state/lkm/pending');
    const [name = ''] = readdirSync(folder).filter((one) => one.endsWith('.json'));
    const pending = readFileSync(join(folder, name), 'utf8');
    expect(pending).toContain(shown);
    expect(ran.stderr + pending).not.toContain(password);
    expect((await lkm([...argv, '-q'], { cwd })).stdout).toMatch(/^prod_/);
    expect((await lkm(['products', 'list', '-q', '--db', url], { cwd })).stdout.trim().split('\n')).toHaveLength(1);
  });
});
