import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { toInstant } from '../../src/domain/time.ts';
import { takeBackup } from '../../src/operator/index.ts';
import { openStore } from '../../src/store/store.ts';
import { lkm, NOW, tempFolder } from './fake-io.ts';
import { openShop } from './shop.ts';

/** A shop with one key and one signed file, and a backup of it. */
async function backedUp() {
  const shop = await openShop();
  const { cwd, names, at, answer } = shop;
  names.KEY = await answer('keys create -q');
  await answer('keys sign KEY --host-id host-1 -o host-1.lic');
  const taken = await at('db backup backup.db');
  const namesIn = (db: string) => answer(`products list --fields name --db ${db}`);
  return { ...shop, taken, file: join(cwd, 'backup.db'), namesIn };
}

describe('db backup', () => {
  it('writes one private file, prints its path, and replaces one only when it is told to', async () => {
    const { cwd, at, taken, file } = await backedUp();
    expect(taken).toEqual({
      code: 0,
      stdout: `${file}\n`,
      stderr: expect.stringMatching(/^backed up \S+lkm\.db \(\d+ kB\)\ntry it: lkm db restore backup\.db --dry-run\n$/),
    });
    const made = readdirSync(cwd).filter((name) => name.startsWith('backup') || name.startsWith('.lkm'));
    expect(made.sort()).toEqual(['backup.db', 'backup.db.json']);
    expect(made.map((name) => statSync(join(cwd, name)).mode & 0o777)).toEqual([0o600, 0o600]);
    const bytes = readFileSync(file);
    expect(JSON.parse(readFileSync(`${file}.json`, 'utf8'))).toEqual({
      ...{ format: 'lkm-backup/1', takenAt: '2026-11-21T12:00:00.000Z', bytes: bytes.length },
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    const { code, stderr } = await at('db backup backup.db');
    expect([code, stderr]).toEqual([13, expect.stringContaining('give another name, or --force to replace it')]);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    rmSync(file);
    const beside = await at('db backup backup.db');
    expect([beside.code, beside.stderr]).toEqual([13, expect.stringContaining('backup.db.json is there already')]);
    expect((await at('db backup backup.db --force')).code).toBe(0);
    expect((await at('db restore backup.db --dry-run')).code).toBe(0);
  });

  it('never replaces the database itself, or what is no file', async () => {
    const { cwd, at, namesIn } = await backedUp();
    mkdirSync(join(cwd, 'folder'));
    symlinkSync(join(cwd, 'lkm.db'), join(cwd, 'link'));
    symlinkSync(join(cwd, 'lkm.db'), join(cwd, 'x.json'));
    const before = statSync(join(cwd, 'lkm.db')).ino;
    for (const [file, message] of [
      ['lkm.db', 'lkm.db is the database itself'],
      ['link', 'link is the database itself'],
      ['x', 'x.json is the database itself'],
      ['folder', 'folder is not a file'],
    ]) {
      for (const force of ['', ' --force']) {
        const { code, stderr } = await at(`db backup ${file}${force}`);
        expect([code, stderr]).toEqual([13, expect.stringContaining(`${message}\n`)]);
      }
    }
    expect([statSync(join(cwd, 'lkm.db')).ino, await namesIn('lkm.db')]).toEqual([before, 'Engine']);
  });

  it('reads a file that a server owns, with what is only in its log, and lets it be opened meanwhile', async () => {
    const { cwd, at } = await backedUp();
    const store = await openStore(join(cwd, 'lkm.db'));
    const before = await store.repositories.accounts.oldest();
    expect((await at('db backup served.db')).code).toBe(0);
    await store.close();
    const copy = await openStore(join(cwd, 'served.db'));
    expect(await copy.repositories.accounts.oldest()).toEqual(before);
    await copy.close();
    const taking = takeBackup(join(cwd, 'lkm.db'), join(cwd, 'second.db'), { now: toInstant(NOW) });
    await (await openStore(join(cwd, 'lkm.db'))).close();
    expect((await taking).bytes).toBeGreaterThan(0);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const { cwd, at } = await backedUp();
    const before = readdirSync(cwd).sort();
    const { code } = await at('db backup late.db', { stop: AbortSignal.abort('SIGINT') });
    expect(code).toBe(130);
    expect(readdirSync(cwd).sort()).toEqual(before);
  });
});

describe('db restore', () => {
  it('makes the database that there is not, without its migrations being run', async () => {
    const { names, at, answer } = await backedUp();
    const { code, stderr } = await at('db restore backup.db --db new/lkm.db');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^restored \S+backup\.db\n$/) });
    expect(await answer('keys get KEY --db new/lkm.db -q')).toBe(names.KEY);
  });

  it('replaces a database only after a yes, and keeps it', async () => {
    const { cwd, at, namesIn } = await backedUp();
    await at('products create --name Later');
    expect((await at('db restore backup.db')).code).toBe(3);
    expect(await namesIn('lkm.db')).toContain('Later');
    expect((await at('db restore backup.db --yes')).code).toBe(0);
    expect(await namesIn('lkm.db')).toBe('Engine');
    const [kept = ''] = readdirSync(cwd).filter((name) => name.includes('before-restore'));
    expect(kept).toBe('lkm.db.before-restore-2026-11-21T12-00-00');
    expect(await namesIn(kept)).toContain('Later');
    const again = await at('db restore backup.db --yes');
    expect(again).toMatchObject({ code: 13, stderr: expect.stringContaining('is there already, of this same second') });
  });

  it('makes one database only, when two run at one time', async () => {
    const { cwd, at } = await backedUp();
    const ran = await Promise.all([1, 2].map(() => at('db restore backup.db --db new.db')));
    expect(ran.map(({ code }) => code).sort()).toEqual([0, 13]);
    expect(ran.find(({ code }) => code === 13)?.stderr).toContain('new.db is there already');
    expect(readdirSync(cwd).filter((name) => name.startsWith('new.db.before'))).toEqual([]);
  });

  it('that was cut off before it replaced anything is named by what finds two names', async () => {
    const { cwd, at } = await backedUp();
    linkSync(join(cwd, 'lkm.db'), join(cwd, 'lkm.db.before-restore-2026-11-21T12-00-00'));
    const { code, stderr } = await at('products list');
    expect(code).toBe(13);
    expect(stderr).toMatch(/has 2 names .*lkm\.db\.before-restore-… of a restore that was cut off/s);
  });

  it('takes neither the place of a database that is in use, nor its file with its log for a backup', async () => {
    const { cwd, at } = await backedUp();
    const store = await openStore(join(cwd, 'lkm.db'));
    store.publishUrl('http://127.0.0.1:4747');
    const over = await at('db restore backup.db --yes');
    const from = await at('db restore lkm.db --db new.db');
    await store.close();
    expect([over.code, over.stderr]).toEqual([13, expect.stringContaining('is served by process')]);
    expect([from.code, from.stderr]).toEqual([13, expect.stringContaining('is a database with its log, not a backup')]);
  });

  it('refuses a backup that others may read, and says what to do', async () => {
    const { at, file } = await backedUp();
    chmodSync(file, 0o640);
    const { code, stderr } = await at('db restore backup.db --db new.db');
    expect([code, stderr]).toEqual([13, expect.stringMatching(/may open it \(mode 640\).*chmod 600 backup\.db/s)]);
  });

  it.each([
    ['cut off', (file: string) => truncateSync(file, statSync(file).size / 2)],
    ['overwritten in the middle', overwrite],
    ['no database', (file: string) => writeFileSync(file, 'hello')],
    ['a database of another program', replaceWithOther],
  ])('refuses one that is %s, and leaves the target alone', async (_, spoil) => {
    const { cwd, at, file } = await backedUp();
    spoil(file);
    expect((await at('db restore backup.db --db new.db')).code).toBe(13);
    expect(existsSync(join(cwd, 'new.db'))).toBe(false);
    expect((await at('db restore backup.db --dry-run')).code).toBe(13);
  });

  it.each([
    ['a backup that was changed', 'is damaged: it differs from its manifest', changed],
    ['a manifest of something else', 'is not the manifest', (file: string) => writeFileSync(`${file}.json`, '{}')],
    ['a manifest that cannot be read', 'is not the manifest', (file: string) => writeFileSync(`${file}.json`, '{')],
  ])('refuses %s', async (_, says, spoil) => {
    const { cwd, at, file } = await backedUp();
    spoil(file);
    for (const options of ['--db new.db', '--dry-run']) {
      const { code, stderr } = await at(`db restore backup.db ${options}`);
      expect([code, stderr]).toEqual([13, expect.stringContaining(says)]);
    }
    expect(existsSync(join(cwd, 'new.db'))).toBe(false);
  });

  it('takes a file without a manifest, as other programs make it', async () => {
    const { at, file } = await backedUp();
    rmSync(`${file}.json`);
    const tried = await at('db restore backup.db --dry-run');
    expect(tried).toEqual({ code: 0, stdout: 'ok\n', stderr: 'it has no manifest to compare it with\n' });
    expect((await at('db restore backup.db --db new.db')).code).toBe(0);
  });
});

describe('db restore --dry-run', () => {
  it('says ok and when the backup was taken, and leaves nothing behind', async () => {
    const { cwd, at } = await backedUp();
    const before = readdirSync(cwd).sort();
    const tried = await at('db restore backup.db --dry-run');
    expect(tried).toEqual({ code: 0, stdout: 'ok\n', stderr: 'taken at 2026-11-21T12:00:00.000Z\n' });
    expect(readdirSync(cwd).sort()).toEqual(before);
  });

  it('opens sealed secrets with the master key, and says when it is not there', async () => {
    const cwd = tempFolder();
    const key = { LKM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
    const at = (line: string, env = {}) => lkm(line.split(' '), { cwd, env: { LKM_DB: 'lkm.db', ...env } });
    await at('products create --name Engine --create', key);
    expect((await at('db backup backup.db')).code).toBe(0);
    expect((await at('db restore backup.db --dry-run', key)).code).toBe(0);
    const { code, stderr } = await at('db restore backup.db --dry-run');
    expect([code, stderr]).toEqual([13, expect.stringContaining('are sealed, and there is no master key')]);
  });
});

it.each(['db backup backup.db', 'db restore backup.db'])(
  '%s on PostgreSQL is refused, and names pg_dump',
  async (line) => {
    const { at } = await backedUp();
    const { code, stderr } = await at(`${line} --db postgres://lkm@db.example/lkm`);
    expect([code, stderr]).toEqual([
      13,
      'error: lkm backs up and restores SQLite files\n  for PostgreSQL use pg_dump and pg_restore\n',
    ]);
  },
);

it.each([
  ['--backup-keep 3', 2, 'go with --backup-every'],
  ['--backup-every 0s', 2, 'at least 1s'],
  ['--backup-every 1h --db postgres://db.example/lkm', 2, 'with pg_dump'],
  ['--backup-every 1h --backup-dir open', 13, 'others than its owner may write to'],
])('a schedule of backups cannot be %s', async (options, code, says) => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, 'open'));
  chmodSync(join(cwd, 'open'), 0o777);
  const ran = await lkm(`serve --port 0 ${options}`.split(' '), { cwd });
  expect(ran).toMatchObject({ code, stderr: expect.stringContaining(says) });
});

/** Changes one row, as a program might that has write access: the file stays a valid database. */
function changed(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("update audit set content = replace(content, 'create', 'delete') where seq = 2");
  database.close();
}

function overwrite(file: string): void {
  const content = readFileSync(file);
  Buffer.alloc(8_192, 7).copy(content, Math.floor(content.length / 2 / 4_096) * 4_096);
  writeFileSync(file, content);
}

function replaceWithOther(file: string): void {
  writeFileSync(file, '');
  const database = new DatabaseSync(file);
  database.exec('create table other (a); insert into other values (1)');
  database.close();
}
