import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { withWorkFolder } from '../../src/store/backup/files.ts';
import { explain as explainPostgres } from '../../src/store/engine/postgres/explain.ts';
import { transact } from '../../src/store/engine/postgres/transaction.ts';
import { createUndo } from '../../src/store/engine/sqlite/connection.ts';
import {
  explainKnown,
  explain as explainSqlite,
  isMountedAlone,
  maxLogPages,
} from '../../src/store/engine/sqlite/file.ts';
import { groupCommit } from '../../src/store/engine/sqlite/group-commit.ts';
import { OutcomeUnknown, StartupError, StorageError } from '../../src/store/errors.ts';
import { engines } from '../support/engines.ts';
import { test as it, testsOn } from '../support/fixtures.ts';

const sqliteError = (errcode: number) =>
  Object.assign(new Error('refused'), { code: 'ERR_SQLITE_ERROR', errcode, errstr: 'refused' });

describe('a database that cannot be opened', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', '57P03'])(
    'is PostgreSQL that does not answer after %s',
    (code) => {
      const error = explainPostgres(
        Object.assign(new Error('no'), { code }),
        'postgres://lkm:secret@db.example:5432/shop',
      );
      expect(error).toBeInstanceOf(StartupError);
      expect(error).toMatchObject({ message: expect.stringMatching(/db\.example.* does not answer$/) });
      expect(String(error)).not.toContain('secret');
    },
  );

  it.each([
    ['53300', 'sorry, too many clients already', 'takes no more connections'],
    ['53100', 'could not extend file: No space left on device', 'has no room left on its disk'],
    ['55P03', 'canceling statement due to lock timeout', 'has a table that another session has locked'],
    ['57014', 'canceling statement due to statement timeout', 'took too long'],
    ['25006', 'cannot execute INSERT in a read-only transaction', 'is read-only'],
    ['42501', 'must be owner of table licenses', 'does not let the user do all of its work'],
  ])('is PostgreSQL that says %s: %s', (code, said, told) => {
    const error = new StorageError(Object.assign(new Error(said), { code }));
    const message = expect.stringContaining(told);
    expect(explainPostgres(error, 'postgres://db.example/shop')).toMatchObject({ name: 'StartupError', message });
  });

  it('is none of which nothing is known', () => {
    const error = Object.assign(new pg.DatabaseError('timeout of a syntax error', 0, 'error'), { code: '42601' });
    expect(explainPostgres(error, 'postgres://db.example/shop')).toBe(error);
    expect(explainKnown(sqliteError(1), 'lkm.db')).toMatchObject({ message: 'refused' });
  });

  it('is a file on a full disk, also in the middle of some work', () => {
    const error = new StorageError(sqliteError(13));
    expect(explainKnown(error, 'lkm.db')).toMatchObject({ message: 'lkm.db cannot be written to: the disk is full' });
  });

  it('is a file in use when SQLite stays busy', () => {
    expect(explainSqlite(sqliteError(5), 'lkm.db')).toEqual(
      new StartupError('lkm.db is in use by another program', 'try again'),
    );
  });
});

describe.each(engines)('a store on $name', (engine) => {
  testsOn(engine)('says of a full disk what to do', ({ store }) => {
    const full = engine.name === 'SQLite' ? sqliteError(13) : Object.assign(new Error('no space'), { code: '53100' });
    const message = expect.stringMatching(/the disk is full$|has no room left on its disk$/);
    expect(store.explain(new StorageError(full))).toMatchObject({ name: 'StartupError', message });
  });
});

it.each([
  [100_000, 16_000],
  [60, 1_920],
  [0, 1_000],
])('the log of a file with %i MiB free is copied into it at %i pages', (free, pages) => {
  expect(maxLogPages(free * 1024 * 1024)).toBe(pages);
});

describe('a file that is mounted', () => {
  const mounts = [
    '36 35 98:0 / /srv rw,noatime master:1 - ext4 /dev/root rw',
    '41 36 98:0 /srv/lkm.db /app/lkm.db rw - ext4 /dev/root rw',
    '42 36 98:0 /srv/a.db /app/my\\040shop.db rw - ext4 /dev/root rw',
  ].join('\n');

  it.each([
    ['/app/lkm.db', true],
    ['/app/my shop.db', true],
    ['/srv/lkm.db', false],
    ['/app/lkm.db2', false],
    ['/app', false],
  ])('by itself is not opened, since its log would be left behind: %s', (path, isAlone) => {
    expect(isMountedAlone(path, mounts)).toBe(isAlone);
  });
});

describe('a commit on PostgreSQL that fails', () => {
  const committing = (answer: () => Promise<unknown>) => {
    const client = {
      query: async (sent: string | { text: string }) => (Object(sent).text === 'COMMIT' ? answer() : {}),
      on: () => {},
      off: () => {},
      connection: { stream: { cork() {}, uncork() {} } },
      release: () => {},
    };
    return transact({ connect: async () => client } as never, (() => {}) as never, async () => {});
  };

  it.each(['EPIPE', 'ECONNRESET'])('may have happened when the connection broke: %s', async (code) => {
    const error = Object.assign(new Error('broke'), { code });
    await expect(committing(() => Promise.reject(error))).rejects.toBeInstanceOf(OutcomeUnknown);
  });

  it('has not happened when the server has refused it', async () => {
    const refused = Object.assign(new pg.DatabaseError('full', 0, 'error'), { code: '53100' });
    await expect(committing(() => Promise.reject(refused))).rejects.toMatchObject({ name: 'StorageError' });
  });

  it('has not happened when COMMIT is answered with ROLLBACK', async () => {
    const answered = committing(async () => ({ command: 'ROLLBACK' }));
    await expect(answered).rejects.toMatchObject({ name: 'StorageError' });
    await expect(committing(async () => ({ command: 'COMMIT' }))).resolves.not.toThrow();
  });
});

describe('work in a folder of its own', () => {
  const refused = (path: string) => Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'copyfile', path });

  it('names the file that this user may not open', async ({ folder }) => {
    const backup = join(folder.path, 'backup.db');
    const failing = withWorkFolder(join(folder.path, 'out', 'copy.db'), async () => {
      throw refused(backup);
    });
    await expect(failing).rejects.toEqual(
      new StartupError(`${backup} cannot be opened`, 'check its owner and its mode'),
    );
    expect(readdirSync(join(folder.path, 'out'))).toEqual([]);
  });

  it('names the folder without room, and not the database that is copied', async ({ folder }) => {
    const failing = withWorkFolder(join(folder.path, 'copy.db'), async () => {
      throw explainSqlite(sqliteError(13), 'lkm.db');
    });
    const message = `${folder.path} has no room for a copy of the database`;
    await expect(failing).rejects.toEqual(new StartupError(message, 'free some space, or give another'));
  });

  it('names the folder that this user may not write to', async ({ folder }) => {
    const failing = withWorkFolder(join(folder.path, 'copy.db'), async (work) => {
      throw refused(join(work, 'copy.db'));
    });
    await expect(failing).rejects.toEqual(
      new StartupError(`${folder.path} cannot be written to`, 'check its owner and its mode'),
    );
  });
});

describe('a commit that SQLite refuses', () => {
  /** A database whose COMMIT throws. */
  function refusing(errcode: number): DatabaseSync {
    const database = new DatabaseSync(':memory:');
    const prepare = database.prepare.bind(database);
    database.prepare = (sql) => {
      const statement = prepare(sql);
      if (sql === 'COMMIT') {
        statement.run = () => {
          throw sqliteError(errcode);
        };
      }
      return statement;
    };
    return database;
  }

  it.each([
    ['has not happened when the file is busy', 5, StorageError],
    ['has not happened when the disk is full', 13, StorageError],
    ['has not happened when a constraint is broken', 19, StorageError],
    ['may have happened after a failed write or sync', 10, OutcomeUnknown],
  ])('%s', async (_, errcode, kind) => {
    const database = refusing(errcode);
    const { transaction } = groupCommit(
      database,
      createUndo(database),
      async () => {},
      () => 0,
    );
    const error = await transaction(async () => 'done').catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ name: kind.name });
  });
});
