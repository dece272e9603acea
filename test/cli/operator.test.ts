import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { migrations } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/store.ts';
import { foreignRecord } from '../support/idempotency.ts';
import { lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { KEY, remote } from './scripted-service.ts';

const names = Object.keys(migrations);

/** A folder with a database of one product, and commands that run in it. */
async function onDatabase() {
  const cwd = tempFolder();
  const at = (argv: string[], more: Surroundings = {}) => lkm(argv, { cwd, env: { LKM_DB: 'lkm.db' }, ...more });
  const product = (await at(['products', 'create', '--name', 'Engine Pro', '-q', '--create'])).stdout.trim();
  return { cwd, at, product };
}

/** Leaves a record in progress under a key, as another service may have done, and returns the hash of the key. */
async function leaveInProgress(db: string, key: string, createdAt: string): Promise<string> {
  const store = await openStore(db);
  const account = await store.repositories.accounts.oldest();
  if (account === null) throw new Error('no account');
  const record = foreignRecord(account.id, key, { state: 'in_progress', createdAt });
  await store.transaction((repositories) => repositories.idempotency.insert(record));
  await store.close();
  return record.keyHash;
}

describe('db status', () => {
  it('shows the migrations of a file', async () => {
    const { cwd, at } = await onDatabase();
    const { code, stdout, stderr } = await at(['db', 'status', '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      db: join(cwd, 'lkm.db'),
      engine: 'SQLite',
      done: names,
      pending: [],
      unknown: [],
    });
    const onTerminal = await at(['database', 'status', '--db', './lkm.db'], { terminal: true, env: { NO_COLOR: '1' } });
    expect(onTerminal.stdout).toBe(
      [
        `database  ${join(cwd, 'lkm.db')}`,
        'engine    SQLite',
        `done      ${names.join(', ')}`,
        'pending   none',
        'unknown   none',
        '',
      ].join('\n'),
    );
    expect(onTerminal.stderr).toBe('up to date\n');
  });

  it('makes no database', async () => {
    const cwd = tempFolder();
    const { code, stderr } = await lkm(['db', 'status', '--db', 'typo.db'], { cwd });
    expect(code).toBe(13);
    expect(stderr).toBe(`error: ${join(cwd, 'typo.db')} does not exist\n  Check the path of the database.\n`);
    expect(existsSync(join(cwd, 'typo.db'))).toBe(false);
  });

  it('ends with 13 on a file that is served, and says where', async () => {
    const { cwd, at } = await onDatabase();
    const store = await openStore(join(cwd, 'lkm.db'));
    store.publishUrl('http://127.0.0.1:4747');
    const { code, stderr } = await at(['db', 'status']);
    await store.close();
    expect(code).toBe(13);
    expect(stderr).toContain(
      'at http://127.0.0.1:4747\n  use that server (--base-url http://127.0.0.1:4747), or stop it first\n',
    );
  });
});

describe('db migrate', () => {
  it('lists what it ran, and nothing the second time', async () => {
    const cwd = tempFolder();
    const migrate = ['db', 'migrate', '--db', 'lkm.db'];
    expect(await lkm(migrate, { cwd })).toEqual({
      code: 0,
      stdout: names.map((name) => `${name}\n`).join(''),
      stderr: 'ran 1 migration\n',
    });
    expect(await lkm(migrate, { cwd })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'nothing to run: the schema is up to date\n',
    });
  });
});

describe('a database of an older lkm', () => {
  const known: Record<string, unknown> = migrations;

  afterEach(() => {
    delete known['9999-next'];
  });

  it.each([
    [['products', 'list'], 13],
    [['products', 'create', '--name', 'Other', '--create'], 13],
    [['__complete', 'products', 'get', ''], 0],
    [['db', 'copy', 'lkm.db', 'copy.db'], 13],
    [['db', 'rekey', '--plain'], 13],
    [['idempotency', 'list'], 13],
    [['db', 'backup', 'backup.db'], 0],
  ])('is migrated by no command: %j', async (argv, code) => {
    const { cwd, at } = await onDatabase();
    known['9999-next'] = { up: () => Promise.reject(new Error('it was migrated')) };
    const env = argv[1] === 'copy' ? {} : { LKM_DB: 'lkm.db' };
    const ran = await at(argv, { env });
    expect(ran.code).toBe(code);
    expect(ran.stdout).not.toContain('prod_');
    if (code !== 0) {
      expect(ran.stderr).toBe(
        'error: the database is of an older lkm (1 to migrate, from 9999-next)\n' +
          `  a server of this version migrates it when it starts; without one: lkm db migrate --db ${cwd}/lkm.db\n`,
      );
    }
    expect((await at(['db', 'status', '--fields', 'pending'])).stdout).toBe('["9999-next"]\n');
  });
});

describe('db copy', () => {
  it('copies a database whole, and a key of it works in the copy', async () => {
    const { cwd, at, product } = await onDatabase();
    const key = (await at(['keys', 'create', '-P', product, '-q'])).stdout.trim();
    const { code, stdout, stderr } = await at(['db', 'copy', 'lkm.db', 'copy.db', '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toContainEqual({
      table: 'licenses',
      rows: 1,
      checksum: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    const inCopy = await lkm(['keys', 'get', key, '-P', product, '--db', 'copy.db', '-q'], { cwd });
    expect(inCopy).toEqual({ code: 0, stdout: `${key}\n`, stderr: '' });
  });

  it('has a line per table in a log', async () => {
    const { at } = await onDatabase();
    const { stderr } = await at(['db', 'copy', 'lkm.db', 'copy.db']);
    expect(stderr).toMatch(
      /^accounts: 1 row\nsigning_keys: 1 row\nproducts: 1 row\n(idempotency: \d+ rows?\n)?audit: \d+ rows?\nevents: \d+ rows?\nrecord_heads: 1 row\ncheckpoints: \d+ rows?\ncopied \d+ rows to \S+\/copy\.db\n$/,
    );
  });

  it('has a bar on a terminal, which is gone in the end', async () => {
    const { at } = await onDatabase();
    const env = { NO_COLOR: '1' };
    const { stdout, stderr } = await at(['db', 'copy', 'lkm.db', 'copy.db'], { terminal: true, env });
    const drawn = stderr.replaceAll('\u001b[K', '<erase>').split('\r');
    expect(drawn).toContain(`products       ${'█'.repeat(24)} 1 of 1<erase>`);
    expect(drawn.at(-1)).toMatch(/^<erase>copied \d+ rows to \S+\/copy\.db\n$/);
    expect(stdout).toMatch(/^TABLE +ROWS +CHECKSUM\naccounts +1 +[0-9a-f]{16}\n/);
  });

  it('refuses a target that holds something, and leaves it as it is', async () => {
    const { at } = await onDatabase();
    await at(['products', 'create', '--name', 'Other', '--db', 'other.db', '--create']);
    const { code, stdout, stderr } = await at(['db', 'copy', 'lkm.db', 'other.db']);
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    expect(stderr).toBe('error: the target already holds an instance\n  copy into a new database\n');
    expect((await at(['products', 'list', '--db', 'other.db', '--fields', 'name'])).stdout).toBe('Other\n');
  });

  it('refuses a target that holds something of an earlier version, before its schema is changed', async () => {
    const { cwd, at } = await onDatabase();
    await at(['products', 'create', '--name', 'Other', '--db', 'other.db', '--create']);
    const changed = (statement: string) => {
      const database = new DatabaseSync(join(cwd, 'other.db'));
      const rows = database.prepare(statement).all();
      database.close();
      return rows;
    };
    changed("delete from kysely_migration where name like '0001%' returning name");
    const { code, stderr } = await at(['db', 'copy', 'lkm.db', 'other.db']);
    expect({ code, stderr }).toMatchObject({ code: 13, stderr: expect.stringContaining('already holds an instance') });
    expect(changed("select name from kysely_migration where name like '0001%'")).toEqual([]);
  });

  it.each([
    [['no.db', 'copy.db'], 13, 'no.db does not exist'],
    [['lkm.db', './lkm.db'], 2, 'FROM and TO name the same database'],
    [['lkm.db'], 2, "missing required argument 'TO'"],
    [['lkm.db', 'copy.db', '--db', 'lkm.db'], 2, 'leave --db out'],
  ])('refuses %j', async (args, exitCode, says) => {
    const { cwd, at } = await onDatabase();
    const { code, stderr } = await at(['db', 'copy', ...args]);
    expect(code).toBe(exitCode);
    expect(stderr).toContain(says);
    expect(existsSync(join(cwd, 'copy.db'))).toBe(false);
  });

  it('stops when it is told to, and leaves nothing behind', async () => {
    const { at } = await onDatabase();
    const { code } = await at(['db', 'copy', 'lkm.db', 'copy.db'], { stop: AbortSignal.abort('SIGINT') });
    expect(code).toBe(130);
    expect((await at(['db', 'copy', 'lkm.db', 'copy.db'])).code).toBe(0);
  });
});

describe('a request that never ended', () => {
  it('is listed by the hash of its key until it is resolved', async () => {
    const { cwd, at } = await onDatabase();
    const db = join(cwd, 'lkm.db');
    const second = await leaveInProgress(db, 'order-2', '2026-11-21T11:00:00.000Z');
    const first = await leaveInProgress(db, 'order-1', '2026-11-21T10:00:00.000Z');
    expect((await at(['idempotency', 'list'])).stdout).toBe(
      `${first}\tPOST\t/create-key\t2026-11-21T10:00:00.000Z\n${second}\tPOST\t/create-key\t2026-11-21T11:00:00.000Z\n`,
    );
    const onTerminal = await at(['idempotency', 'list'], { terminal: true, env: { LKM_DB: 'lkm.db', NO_COLOR: '1' } });
    expect(onTerminal.stdout).toBe(
      [
        'HASH          METHOD  PATH         CREATED',
        `${first.slice(0, 12)}  POST    /create-key  2 hours ago`,
        `${second.slice(0, 12)}  POST    /create-key  1 hour ago`,
        '',
      ].join('\n'),
    );
    expect(JSON.parse((await at(['idempotency', 'list', '--json'])).stdout)).toEqual([
      { hash: first, method: 'POST', path: '/create-key', createdAt: '2026-11-21T10:00:00.000Z' },
      { hash: second, method: 'POST', path: '/create-key', createdAt: '2026-11-21T11:00:00.000Z' },
    ]);
    const create = ['products', 'create', '--name', 'x', '--max-wait', '0s', '--idempotency-key'];
    expect(await at(['idempotency', 'resolve', 'order-1', '--completed', '--json'])).toEqual({
      code: 0,
      stdout: `{"hash":"${first}","outcome":"completed"}\n`,
      stderr: '',
    });
    const later = { now: NOW + 1_000 };
    expect((await at(['idempotency', 'resolve', 'order-2', '--abandoned'], later)).stderr).toBe(
      'abandoned: order-2 · the next retry runs\n',
    );
    const history = await at(['idempotency', 'history']);
    expect(history).toEqual({
      code: 0,
      stdout:
        `${first}\tPOST\t/create-key\tcompleted\tvendor@here\t2026-11-21T12:00:00.000Z\n` +
        `${second}\tPOST\t/create-key\tabandoned\tvendor@here\t2026-11-21T12:00:01.000Z\n`,
      stderr: '',
    });
    expect(await at(['idempotency', 'ls'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no request is in progress: nothing to resolve\n',
    });
    expect((await at([...create, 'order-2'])).code).toBe(0);
    expect((await at([...create, 'order-1'])).code).toBe(2);
  });

  it('is resolved by its whole hash, or by its first 8 digits in any case, but not by 7', async () => {
    const { cwd, at } = await onDatabase();
    const db = join(cwd, 'lkm.db');
    const resolve = async (name: string) => (await at(['idempotency', 'resolve', name, '--abandoned', '-q'])).stdout;
    const whole = await leaveInProgress(db, 'order-1', '2026-11-21T10:00:00.000Z');
    expect(await resolve(whole)).toBe(`${whole}\n`);
    const short = await leaveInProgress(db, 'order-2', '2026-11-21T10:00:00.000Z');
    expect((await at(['idempotency', 'resolve', short.slice(0, 7), '--abandoned'])).code).toBe(6);
    expect(await resolve(short.slice(0, 8).toUpperCase())).toBe(`${short}\n`);
  });

  it('is not resolved by what names another request too, nor by digits of one that has ended', async () => {
    const { cwd, at } = await onDatabase();
    const db = join(cwd, 'lkm.db');
    const hash = await leaveInProgress(db, 'order-1', '2026-11-21T10:00:00.000Z');
    // A key that reads like the beginning of another key's hash.
    const name = hash.slice(0, 12);
    await leaveInProgress(db, name, '2026-11-21T10:00:00.000Z');
    const { code, stderr } = await at(['idempotency', 'resolve', name, '--abandoned']);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `error: ${name} names 2 requests: give more digits of the hash\n  See them:  lkm idempotency list\n`,
    );
    expect((await at(['idempotency', 'list', '-q'])).stdout.split('\n')).toHaveLength(3);
    expect((await at(['idempotency', 'resolve', hash, '--completed'])).code).toBe(0);
    expect((await at(['idempotency', 'resolve', hash, '--abandoned'])).code).toBe(6);
  });

  it('is not there: that ends with 6', async () => {
    const { at } = await onDatabase();
    const { code, stderr } = await at(['idempotency', 'resolve', 'order-9', '--abandoned']);
    expect(code).toBe(6);
    expect(stderr).toBe('error: no request is in progress under order-9\n  See them:  lkm idempotency list\n');
    expect(await at(['idempotency', 'history'])).toEqual({ code: 0, stdout: '', stderr: 'nothing was resolved yet\n' });
  });

  it.each([[[]], [['--completed', '--abandoned']]])('needs one decision, not %j', async (decisions) => {
    const { at } = await onDatabase();
    const { code, stderr } = await at(['idempotency', 'resolve', KEY, ...decisions]);
    expect(code).toBe(2);
    expect(stderr).toContain('error: say what became of it: --completed or --abandoned\n');
  });
});

describe('a command for operators', () => {
  const commands = [
    ['db', 'status'],
    ['db', 'migrate'],
    ['idempotency', 'list'],
    ['idempotency', 'history'],
    ['idempotency', 'resolve', 'k', '--abandoned'],
  ];

  it.each(commands)('needs a database: %s %s', async (...argv) => {
    const none = await lkm(argv);
    expect(none.code).toBe(2);
    expect(none.stderr).toBe(
      [
        'error: this command works on a database itself, and none is named',
        '  Give it:  --db FILE, or postgres://…',
        '  Or set:   export LKM_DB=…',
        '',
      ].join('\n'),
    );
    expect((await lkm(argv, { env: remote })).code).toBe(2);
    const both = await lkm([...argv, '--base-url', 'https://x.example'], { env: { LKM_DB: 'lkm.db' } });
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('--base-url names a service');
    expect((await lkm([...argv, '-p', 'local'], { env: { LKM_DB: 'lkm.db' } })).code).toBe(2);
  });
});
