import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, it, vi } from 'vitest';
import { watchLog } from '../../src/store/engine/sqlite/log-length.ts';
import { openSqliteReading } from '../../src/store/engine/sqlite/reading.ts';

const FULL_SIZE = 100;

/** The size at which the log is to be copied. */
const NEARLY_FULL = 88;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** A database whose log is full at 100 pages, and the two connections that a server has to it. */
function openDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-log-length-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'with # and ? in it.db');
  const writer = new DatabaseSync(path);
  writer.exec(`PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=${FULL_SIZE}; create table numbers (number)`);
  const reader = new DatabaseSync(path, { readOnly: true });
  const count = () => Number(reader.prepare('select count(*) as count from numbers').get()?.count);
  count();
  const watched = watchLog(writer, reader);
  const copy = vi.fn();
  watched.copyBy(copy);
  cleanups.push(() => {
    reader.close();
    writer.close();
  });
  const log = () => reader.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number };
  return {
    path,
    writer,
    count,
    log,
    watched,
    copy,
    /** Commits, each with one page, until the log has so many. */
    commitUpTo(pages: number): void {
      while (log().log < pages) {
        writer.exec('insert into numbers values (1)');
        watched.look();
      }
    },
  };
}

it('a log is to be copied when it is nearly full, and then again each time that it has begun anew', () => {
  const { copy, commitUpTo, writer, log, path } = openDatabase();
  copy.mockImplementation(openSqliteReading(path).copyLog);
  for (let time = 1; time <= 3; time += 1) {
    commitUpTo(80);
    expect(copy).toHaveBeenCalledTimes(time - 1);
    commitUpTo(NEARLY_FULL);
    expect(copy).toHaveBeenCalledTimes(time);
    expect(log()).toMatchObject({ log: NEARLY_FULL, checkpointed: NEARLY_FULL });
    writer.exec('insert into numbers values (1)');
    expect(log()).toMatchObject({ log: 1 });
  }
});

it('a log is left to the connection that writes when no thread can be asked to copy it', () => {
  const { copy, commitUpTo, count, writer, log } = openDatabase();
  copy.mockImplementation(() => {
    throw new Error('no room for a thread');
  });
  commitUpTo(FULL_SIZE);
  expect(copy).toHaveBeenCalled();
  writer.exec('insert into numbers values (1)');
  expect(log().log).toBe(1);
  expect(count()).toBeGreaterThan(FULL_SIZE / 2);
});

it('a log is left to the connection that writes when the one that copies fails, which works again for the next one', () => {
  const { path, copy, commitUpTo, writer, log } = openDatabase();
  const { copyLog } = openSqliteReading(path);
  copy.mockImplementation(() => {
    renameSync(path, `${path}.moved`);
    mkdirSync(path);
    copyLog();
    rmdirSync(path);
    renameSync(`${path}.moved`, path);
  });
  commitUpTo(FULL_SIZE);
  writer.exec('insert into numbers values (1)');
  expect(log().log).toBe(1);
  copy.mockImplementation(copyLog);
  commitUpTo(NEARLY_FULL);
  expect(log()).toMatchObject({ log: NEARLY_FULL, checkpointed: NEARLY_FULL });
});

it('a log is to be copied once more only when it has grown by as much again, while somebody reads an old state', () => {
  const { path, copy, watched, commitUpTo } = openDatabase();
  using backup = new DatabaseSync(path, { readOnly: true });
  backup.exec('begin; select 1 from numbers');
  commitUpTo(112);
  expect(watched.isTooLong()).toBe(false);
  commitUpTo(113);
  expect(watched.isTooLong()).toBe(true);
  commitUpTo(170);
  expect(copy).toHaveBeenCalledTimes(1);
  commitUpTo(180);
  expect(copy).toHaveBeenCalledTimes(2);
});
