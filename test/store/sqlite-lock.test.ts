import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { StartupError } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/store.ts';
import { createFolder } from '../support/engines.ts';
import { test as it } from '../support/fixtures.ts';
import { spawnOwner, spawnTool } from './processes.ts';

const account = { id: 'acc_1', name: 'acme', createdAt: '2026-11-21T10:00:00.000Z' };

/** Whether this process sees the locks of all others: it is not in a PID namespace of its own. */
const seesAllLocks = (() => {
  try {
    return readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]';
  } catch {
    return false;
  }
})();

/** Ways to open the file of a running process by another name, or without the lock files beside it; each may return a path. */
const detours: Readonly<Record<string, (db: string, other: string) => unknown>> = {
  'a hard link': linkSync,
  'a symbolic link': (db, other) => symlinkSync(db, other),
  'a symbolic link to its folder': (db, other) => {
    symlinkSync(dirname(db), other);
    return join(other, basename(db));
  },
  'a new name': renameSync,
  'a new name with its log': (db, other) => {
    renameSync(db, other);
    renameSync(`${db}-wal`, `${other}-wal`);
  },
  'a hard link whose first name was removed': (db, other) => {
    linkSync(db, other);
    rmSync(db);
  },
  'its own name without -lock': (db) => {
    rmSync(`${db}-lock`);
    return db;
  },
  'its own name without -lock and -owner': (db) => {
    rmSync(`${db}-lock`);
    rmSync(`${db}-owner`);
    return db;
  },
};

describe('a database file that a process has open', () => {
  it.each(Object.entries(detours))('is refused under %s', async (_, detour) => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const owner = await spawnOwner(db, 'http://127.0.0.1:1');
    const other = join(folder.path, 'other');
    const path = String(detour(db, other) ?? other);
    await expect(openStore(path)).rejects.toBeInstanceOf(StartupError);
    expect(owner.exitCode).toBeNull();
  });

  it.runIf(process.platform === 'linux')('is refused through a descriptor of its owner', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const owner = await spawnOwner(db);
    const descriptors = `/proc/${owner.pid}/fd`;
    const [descriptor] = readdirSync(descriptors).filter((fd) => readlinkSync(join(descriptors, fd)) === db);
    await expect(openStore(join(descriptors, String(descriptor)))).rejects.toEqual(
      new StartupError(`${db} is in use by process ${owner.pid}`, 'wait until it has finished'),
    );
  });

  it('is refused under a link that was made before anybody opened it', async ({ folder }) => {
    const [db, link] = [join(folder.path, 'lkm.db'), join(folder.path, 'link.db')];
    await (await openStore(db)).close();
    linkSync(db, link);
    for (const path of [db, link]) {
      await expect(openStore(path)).rejects.toEqual(
        new StartupError(
          `${path} has 2 names (hard links)`,
          `remove the others, such as ${basename(path)}.before-restore-… of a restore that was cut off: SQLite loses changes under several`,
        ),
      );
    }
    rmSync(link);
    await (await openStore(db)).close();
  });

  it('is the same under a symbolic link, with one lock and one log beside the file itself', async ({ folder }) => {
    mkdirSync(join(folder.path, 'data'));
    const [db, link] = [join(folder.path, 'data', 'lkm.db'), join(folder.path, 'link.db')];
    await (await openStore(db)).close();
    symlinkSync(db, link);
    const store = await openStore(link);
    await store.transaction((repositories) => repositories.accounts.insert(account as never));
    await expect(openStore(db)).rejects.toThrow(`${db} is in use by process ${process.pid}`);
    await store.close();
    expect(readdirSync(folder.path).sort()).toEqual(['data', 'link.db']);
    expect(readlinkSync(link)).toBe(db);
    const again = await openStore(db);
    expect(await again.repositories.accounts.oldest()).toEqual(account);
    await again.close();
  });

  it('keeps its lock while this process looks at it, and while a second opening fails', async ({ db }) => {
    const store = await openStore(db);
    await expect(openStore(db)).rejects.toBeInstanceOf(StartupError);
    const raw = new DatabaseSync(db);
    raw.prepare('select 1 from accounts').all();
    raw.close();
    rmSync(`${db}-lock`);
    const program = `import { openStore } from ${JSON.stringify(new URL('../../src/store/store.ts', import.meta.url).href)};
      try { await openStore(${JSON.stringify(db)}); console.log('opened'); } catch (error) { console.log(error.name); }`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    await store.close();
    expect(stdout).toBe('StartupError\n');
  }, 20_000);
});

it('a database file is given back when the note of its owner cannot be removed', async ({ db }) => {
  const store = await openStore(db);
  rmSync(`${db}-owner`);
  mkdirSync(`${db}-owner`);
  await store.close();
  rmdirSync(`${db}-owner`);
  await (await openStore(db)).close();
});

describe('a tool that knows SQLite', () => {
  it('reads and copies a database while a server has it open', async ({ folder, db }) => {
    await spawnOwner(db);
    const tool = await spawnTool(db);
    expect(tool.exitCode).toBeNull();
    const raw = new DatabaseSync(db, { timeout: 5_000 });
    const copy = join(folder.path, 'copy.db');
    raw.exec(`vacuum into '${copy}'`);
    raw.close();
    const store = await openStore(copy);
    expect(await store.repositories.accounts.oldest()).toEqual(account);
    await store.close();
  });

  it.runIf(seesAllLocks)('does not keep lkm out by having the database open', async () => {
    await using folder = await createFolder();
    const db = join(folder.path, 'lkm.db');
    const first = await openStore(db);
    await first.transaction((repositories) => repositories.accounts.insert(account as never));
    await first.close();
    await spawnTool(db);
    const store = await openStore(db);
    expect(await store.repositories.accounts.oldest()).toEqual(account);
    await store.close();
  });

  it('does not let a second server in beside it', async ({ folder, db }) => {
    const owner = await spawnOwner(db, 'http://127.0.0.1:1');
    await spawnTool(db);
    const other = join(folder.path, 'other.db');
    renameSync(db, other);
    await expect(openStore(other)).rejects.toMatchObject({
      name: 'StartupError',
      message: expect.stringMatching(/^.*other\.db is open in another program/),
    });
    expect(owner.exitCode).toBeNull();
  });
});
