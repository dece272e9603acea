import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { migrations } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/store.ts';
import { lkm, says, tempFolder } from './fake-io.ts';
import { remote } from './scripted-service.ts';
import { openShop } from './shop.ts';

const names = Object.keys(migrations);

describe('db status', () => {
  it('shows the migrations of a file', async () => {
    const { cwd, at } = await openShop();
    const { code, stdout } = await at('db status --json');
    const status = {
      db: join(cwd, 'lkm.db'),
      engine: 'SQLite',
      done: names,
      pending: [],
      unknown: [],
      search: 'indexed',
    };
    expect([code, JSON.parse(stdout)]).toEqual([0, status]);
    const onTerminal = await at('database status --db ./lkm.db', { terminal: true });
    expect(onTerminal.stdout).toContain('\nengine    SQLite\n');
    expect(onTerminal.stderr).toBe('up to date\n');
  });

  it('takes an empty --db for none, also where LKM_DB names one', async () => {
    const { cwd } = await openShop();
    const { code, stderr } = await lkm(['db', 'status', '--db', ''], { cwd, env: { LKM_DB: 'lkm.db' } });
    expect([code, stderr]).toEqual([2, says('works on a database itself, and none is named')]);
  });

  it('makes no database', async () => {
    const cwd = tempFolder();
    const { code, stderr } = await lkm(['db', 'status', '--db', 'typo.db'], { cwd });
    expect([code, stderr]).toEqual([13, says('typo.db does not exist\n  Check the path of the')]);
    expect(existsSync(join(cwd, 'typo.db'))).toBe(false);
  });

  it('ends with 13 on a file that is served, and says where', async () => {
    const { cwd, at } = await openShop();
    const store = await openStore(join(cwd, 'lkm.db'));
    store.publishUrl('http://127.0.0.1:4747');
    const { code, stderr } = await at('db status');
    await store.close();
    expect([code, stderr]).toEqual([13, says('use that server (--base-url http://127.0.0.1:4747)')]);
  });
});

it('db migrate lists what it ran, and nothing the second time', async () => {
  const cwd = tempFolder();
  const migrate = () => lkm(['db', 'migrate', '--db', 'lkm.db'], { cwd });
  const stdout = names.map((name) => `${name}\n`).join('');
  expect(await migrate()).toEqual({ code: 0, stdout, stderr: `ran ${names.length} migration\n` });
  expect(await migrate()).toMatchObject({ code: 0, stdout: '', stderr: says('nothing to run') });
});

describe('a database of an older lkm', () => {
  const known: Record<string, unknown> = migrations;
  afterEach(() => {
    delete known['9999-next'];
  });

  it.each([
    ['products create --name Other --create', 13],
    ['__complete products get ', 0],
    ['db copy lkm.db copy.db', 13],
    ['db rekey --plain', 13],
    ['db backup backup.db', 0],
  ])('is migrated by no command: %s', async (line, code) => {
    const { cwd, at } = await openShop();
    known['9999-next'] = () => ['it was migrated'];
    const ran = await at(line, { env: line.startsWith('db copy') ? { LKM_DB: '' } : {} });
    expect(ran.code).toBe(code);
    expect(ran.stdout).not.toContain('prod_');
    if (code !== 0) {
      expect(ran.stderr).toContain('error: the database is of an older lkm (1 to migrate, from 9999-next)\n');
      expect(ran.stderr).toContain(`lkm db migrate --db ${cwd}/lkm.db\n`);
    }
    expect((await at('db status --fields pending')).stdout).toBe('["9999-next"]\n');
  });
});

describe('db copy', () => {
  it('copies a database whole, and a key of it works in the copy', async () => {
    const { names, at, answer } = await openShop();
    names.KEY = await answer('keys create -q');
    const { code, stdout, stderr } = await at('db copy lkm.db copy.db --json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const checksum = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(JSON.parse(stdout)).toContainEqual({ table: 'licenses', rows: 1, checksum });
    expect(await answer('keys get KEY --db copy.db -q')).toBe(names.KEY);
  });

  it('refuses a target that holds something, also of an earlier version, and leaves it as it is', async () => {
    const { cwd, at } = await openShop();
    await at('products create --name Other --db other.db --create');
    const copy = () => at('db copy lkm.db other.db');
    const refused = { code: 13, stdout: '', stderr: says('the target already holds an instance') };
    expect(await copy()).toEqual(refused);
    expect((await at('products list --db other.db --fields name')).stdout).toBe('Other\n');
    const other = new DatabaseSync(join(cwd, 'other.db'));
    other.exec("delete from lkm_migrations where name like '0001%'");
    other.close();
    expect(await copy()).toEqual(refused);
    const schema = new DatabaseSync(join(cwd, 'other.db'));
    expect(schema.prepare("select name from lkm_migrations where name like '0001%'").all()).toEqual([]);
    schema.close();
  });

  it.each([
    ['no.db copy.db', 13, 'no.db does not exist'],
    ['lkm.db ./lkm.db', 2, 'FROM and TO name the same database'],
    ['lkm.db', 2, "missing required argument 'TO'"],
    ['lkm.db copy.db --db lkm.db', 2, 'leave --db out'],
  ])('refuses %s', async (words, code, message) => {
    const { cwd, at } = await openShop();
    expect(await at(`db copy ${words}`)).toMatchObject({ code, stderr: says(message) });
    expect(existsSync(join(cwd, 'copy.db'))).toBe(false);
  });

  it('stops when it is told to, and leaves nothing behind', async () => {
    const { at } = await openShop();
    const { code } = await at('db copy lkm.db copy.db', { stop: AbortSignal.abort('SIGINT') });
    expect(code).toBe(130);
    expect((await at('db copy lkm.db copy.db')).code).toBe(0);
  });
});

it.each(['db status', 'db migrate'])('lkm %s needs a database', async (line) => {
  const argv = line.split(' ');
  const none = says('error: this command works on a database itself, and none is named\n');
  expect(await lkm(argv)).toMatchObject({ code: 2, stderr: none });
  expect((await lkm(argv, { env: remote })).code).toBe(2);
  const env = { LKM_DB: 'lkm.db' };
  const both = await lkm([...argv, '--base-url', 'https://x.example'], { env });
  expect(both).toMatchObject({ code: 2, stderr: says('--base-url names a service') });
  expect((await lkm([...argv, '-p', 'local'], { env })).code).toBe(2);
});
