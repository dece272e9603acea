import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { StorageError } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/store.ts';
import { createFolder } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { insertLicense } from '../support/store-fixture.ts';

const fileHint = 'give another file with --db';
const isRoot = process.getuid?.() === 0;

/** What there is at a path, without opening it. */
function look(path: string) {
  const { mode, size, nlink, mtimeMs } = lstatSync(path);
  return { mode, size, nlink, mtimeMs };
}

const otherProgram = (path: string, journalMode: string) => {
  const database = new DatabaseSync(path);
  database.exec(`pragma journal_mode=${journalMode}; create table bookmarks (url text)`);
  database.close();
};

const foreign: Readonly<Record<string, { make(path: string): void; message: string; on?: boolean }>> = {
  'a text file': { make: (path) => writeFileSync(path, 'Buy milk.\n'.repeat(200)), message: 'is not a database' },
  'a short text file': { make: (path) => writeFileSync(path, 'Buy milk.\n'), message: 'is not a database' },
  'a database of another program': {
    make: (path) => otherProgram(path, 'delete'),
    message: 'is a database of another program',
  },
  'a database of another program with a log': {
    make: (path) => otherProgram(path, 'wal'),
    message: 'is a database of another program',
  },
  'a folder': { make: (path) => mkdirSync(path), message: 'is a folder' },
  'a FIFO': {
    make: (path) => execFileSync('mkfifo', [path]),
    message: 'is not a regular file',
    on: process.platform !== 'win32',
  },
  'a device': {
    make: (path) => execFileSync('mknod', [path, 'c', '1', '3']),
    message: 'is not a regular file',
    on: isRoot,
  },
};

describe('what is not a database of lkm', () => {
  it.each(Object.entries(foreign).filter(([, { on = true }]) => on))(
    'is refused when it is %s, and stays as it is',
    async (_, { make, message }) => {
      await using folder = await createFolder();
      const path = join(folder.path, 'thing');
      make(path);
      const before = look(path);
      for (const create of [true, false]) {
        await expect(openStore(path, { waitMs: 600_000, create })).rejects.toMatchObject({
          name: 'StartupError',
          message: `${path} ${message}`,
          hint: fileHint,
        });
      }
      expect(look(path)).toEqual(before);
      expect(readdirSync(folder.path)).toEqual(['thing']);
    },
  );

  it('is refused when it is a socket, and stays as it is', async ({ folder }) => {
    const path = join(folder.path, 'socket');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const before = look(path);
    await expect(openStore(path)).rejects.toMatchObject({ message: `${path} is not a regular file` });
    expect(look(path)).toEqual(before);
    server.close();
  });

  it('is refused when it is a symbolic link to nothing, and nothing is made', async ({ folder }) => {
    const [link, target] = [join(folder.path, 'link'), join(folder.path, 'target')];
    symlinkSync(target, link);
    await expect(openStore(link)).rejects.toMatchObject({
      name: 'StartupError',
      message: `${link} is a symbolic link to a file that does not exist`,
    });
    expect(readdirSync(folder.path)).toEqual(['link']);
  });
});

describe('a database that does not exist', () => {
  it('is not made, nor its folder, when that is forbidden', async ({ folder }) => {
    const path = join(folder.path, 'typo', 'lkm.db');
    await expect(openStore(path, { create: false })).rejects.toMatchObject({
      name: 'StartupError',
      message: `${path} does not exist`,
      hint: 'check the path; lkm serve and lkm db migrate make a database',
    });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('is not made of an empty file when that is forbidden', async ({ folder }) => {
    const path = join(folder.path, 'lkm.db');
    writeFileSync(path, '');
    await expect(openStore(path, { create: false })).rejects.toMatchObject({
      message: `${path} is empty, not a database`,
    });
    expect(readdirSync(folder.path)).toEqual(['lkm.db']);
  });
});

describe('what somebody put beside a database', () => {
  const besides = ['-lock', '-owner', '-wal', '-shm'];

  it.each(besides.flatMap((suffix) => [[suffix, 'a file', 'precious'] as const, [suffix, 'nothing', null] as const]))(
    'is not followed when it is a symbolic link called %s to %s',
    async (suffix, _, content) => {
      await using folder = await createFolder();
      const [db, victim] = [join(folder.path, 'lkm.db'), join(folder.path, 'victim')];
      await (await openStore(db)).close();
      rmSync(`${db}${suffix}`, { force: true });
      if (content !== null) writeFileSync(victim, content);
      symlinkSync(victim, `${db}${suffix}`);
      const opened = await openStore(db).catch((error: Error) => error);
      if (opened instanceof Error) expect(opened.name).toBe('StartupError');
      else await opened.close();
      expect(existsSync(victim) ? readFileSync(victim, 'utf8') : null).toBe(content);
    },
  );

  it('keeps the names of other files when a hard link is called -lock', async ({ folder }) => {
    const [db, victim] = [join(folder.path, 'lkm.db'), join(folder.path, 'victim')];
    writeFileSync(victim, '');
    linkSync(victim, `${db}-lock`);
    await expect(openStore(db)).rejects.toMatchObject({
      message: `${db}-lock is not a lock file: lkm's is empty`,
      hint: 'move it away; lkm makes its own',
    });
  });

  it.each([
    ['a lock file with garbage in it', '-lock', (path: string) => writeFileSync(path, 'garbage')],
    ['a folder in place of the lock file', '-lock', (path: string) => mkdirSync(path)],
    [
      'a folder in place of the owner file',
      '-owner',
      (path: string) => mkdirSync(join(path, 'sub'), { recursive: true }),
    ],
  ])('is %s: one clear line', async (_, suffix, make) => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    make(`${db}${suffix}`);
    await expect(openStore(db)).rejects.toMatchObject({ name: 'StartupError', hint: expect.any(String) });
    rmSync(`${db}${suffix}`, { recursive: true });
    await (await openStore(db)).close();
  });

  it.each(['garbage', '[]', 'null', '{"pid":"x"}', '{"pid":1,"url":"\\u001b]0;x"}', 'x'.repeat(100_000)])(
    'says nothing when the owner file holds %.20s',
    async (text) => {
      await using folder = await createFolder();
      const db = join(folder.path, 'lkm.db');
      const store = await openStore(db);
      writeFileSync(`${db}-owner`, text);
      await expect(openStore(db)).rejects.toThrow(/^\S+ is in use by (another process|process 1)$/);
      await store.close();
    },
  );
});

describe('a damaged database', () => {
  const damage: Readonly<Record<string, (path: string, size: number) => void>> = {
    'is cut off': (path, size) => truncateSync(path, size / 2),
    'is cut off in its first page': (path) => truncateSync(path, 700),
    'has garbage in its pages': (path, size) => {
      const bytes = readFileSync(path);
      bytes.fill(0xa5, 100, size);
      writeFileSync(path, bytes);
    },
  };

  it.each(Object.entries(damage))('%s: one clear line, and it stays as it is', async (_, spoil) => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const store = await openStore(db);
    await insertLicense(store);
    await store.close();
    spoil(db, lstatSync(db).size);
    const before = readFileSync(db);
    await expect(openStore(db)).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(/^\S+ (is damaged|is not a database)$/),
      hint: expect.any(String),
    });
    expect(readFileSync(db)).toEqual(before);
  });
});

describe('a database file that goes away under a running service', () => {
  const losses: Readonly<Record<string, (db: string) => void>> = {
    'is removed': (db) => rmSync(db),
    'is renamed': (db) => renameSync(db, `${db}.old`),
    'is replaced by another': (db) => {
      renameSync(db, `${db}.old`);
      writeFileSync(db, readFileSync(`${db}.old`));
    },
    'loses its log': (db) => rmSync(`${db}-wal`),
  };

  it.each(Object.entries(losses))('%s: changes are refused, and the check fails', async (_, lose) => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const store = await openStore(db);
    await insertLicense(store);
    await expect(store.check()).resolves.toBeUndefined();
    lose(db);
    await expect(store.check()).rejects.toBeInstanceOf(StorageError);
    const account = { id: 'acc_2', name: 'late', createdAt: '2026-11-21T10:00:00.000Z' };
    await expect(
      store.transaction((repositories) => repositories.accounts.insert(account as never)),
    ).rejects.toBeInstanceOf(StorageError);
    await store.close().catch(() => {});
  });

  it('serves on when it is back', async ({ db }) => {
    const store = await openStore(db);
    renameSync(db, `${db}.old`);
    await expect(store.check()).rejects.toBeInstanceOf(StorageError);
    renameSync(`${db}.old`, db);
    await expect(store.check()).resolves.toBeUndefined();
    await insertLicense(store);
    await store.close();
  });
});

it('a database in use fails its check while its disk is full, without a change', async ({ skip }) => {
  const isMounted = await onDisk(16_384, async (disk) => {
    const store = await openStore(join(disk, 'lkm.db'));
    await expect(store.check()).resolves.toBeUndefined();
    fillDisk(disk);
    const failed = await store.check().catch((error: unknown) => store.explain(error));
    expect(failed).toMatchObject({ name: 'StartupError', message: expect.stringContaining('the disk is full') });
    rmSync(join(disk, 'filler'));
    await expect(store.check()).resolves.toBeUndefined();
    await store.close();
  });
  if (!isMounted) skip('this user may not mount a file system');
});

function fillDisk(disk: string): void {
  const { bfree, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'filler'), Buffer.alloc(bfree * bsize));
}

/** Runs `work` with a disk of so many kilobytes; false where this user may not mount one. */
async function onDisk(kilobytes: number, work: (disk: string) => Promise<void>): Promise<boolean> {
  await using folder = await createFolder();
  const disk = join(folder.path, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    return false;
  }
  try {
    await work(disk);
  } finally {
    execFileSync('umount', [disk]);
  }
  return true;
}

it.for([
  ['full', 16, /cannot be (written to: the disk is full|read or written: the disk failed)$/],
  ['mounted read-only', 16_384, /cannot be (opened|written to)$/],
] as const)('a database on a disk that is %s is refused in one line', async ([what, kilobytes, message], { skip }) => {
  const isMounted = await onDisk(kilobytes, async (disk) => {
    const db = join(disk, 'lkm.db');
    if (what === 'full') writeFileSync(join(disk, 'filler'), Buffer.alloc(12_288));
    else {
      await (await openStore(db)).close();
      execFileSync('mount', ['-o', 'remount,ro', disk]);
    }
    const refused = { name: 'StartupError', message: expect.stringMatching(message) };
    await expect(openStore(db)).rejects.toMatchObject({
      ...refused,
      hint: expect.stringMatching(/free|read-only|full/),
    });
  });
  if (!isMounted) skip('only root may mount');
});
