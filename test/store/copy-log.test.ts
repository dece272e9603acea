import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it, vi } from 'vitest';
import { findThread } from '../../faults/process.ts';
import { readBeside } from '../../src/store/engine/sqlite/broad-reads.ts';
import { copyLogBeside } from '../../src/store/engine/sqlite/copy-log.ts';

const FULL_SIZE = 100;

/** The size at which the thread is asked. A commit that came while it copies could be left for the connection that writes. */
const ASKED_AT = 88;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A database whose log is full at 100 pages, and the two connections that a server has to it. */
function openDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-copy-log-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'with # and ? in it.db');
  const writer = new DatabaseSync(path);
  writer.exec(`PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=${FULL_SIZE}; create table numbers (number)`);
  const reader = new DatabaseSync(path, { readOnly: true });
  const count = () => Number(reader.prepare('select count(*) as count from numbers').get()?.count);
  count();
  const logCopier = copyLogBeside(path, writer, reader);
  cleanups.push(async () => {
    await logCopier.close();
    reader.close();
    writer.close();
  });
  const log = () => reader.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number };
  return {
    path,
    writer,
    count,
    log,
    logCopier,
    /** Commits, each with one page, until the log has so many. */
    commitUpTo(pages: number): void {
      while (log().log < pages) {
        writer.exec('insert into numbers values (1)');
        logCopier.copyLongLog();
      }
    },
  };
}

const thread = () => findThread(process.pid);

it('copies a log that is nearly full, all of it, before a commit has to', async () => {
  const { log, commitUpTo } = openDatabase();
  commitUpTo(80);
  expect(thread()).toBeNull();
  expect(log().checkpointed).toBe(0);
  commitUpTo(ASKED_AT);
  await vi.waitFor(() => expect(log()).toMatchObject({ log: ASKED_AT, checkpointed: ASKED_AT }), 5_000);
});

it('copies it again each time', async () => {
  const { log, commitUpTo, writer } = openDatabase();
  const threads = new Set<number | null>();
  for (let time = 0; time < 3; time += 1) {
    commitUpTo(ASKED_AT);
    await vi.waitFor(() => expect(log()).toMatchObject({ log: ASKED_AT, checkpointed: ASKED_AT }), 5_000);
    threads.add(thread());
    writer.exec('insert into numbers values (1)');
    expect(log()).toMatchObject({ log: 1 });
  }
  expect([...threads]).toEqual([expect.any(Number)]);
});

it('ends its thread when it is closed', async () => {
  const { logCopier, commitUpTo } = openDatabase();
  commitUpTo(ASKED_AT);
  await vi.waitFor(() => expect(thread()).not.toBeNull(), 5_000);
  await logCopier.close();
  expect(thread()).toBeNull();
});

it('leaves the log to the connection that writes when no thread can be started', () => {
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
    throw new Error('no room for a thread');
  });
  const { log, commitUpTo, count, writer } = openDatabase();
  commitUpTo(FULL_SIZE);
  writer.exec('insert into numbers values (1)');
  expect(log().log).toBe(1);
  expect(count()).toBeGreaterThan(FULL_SIZE / 2);
});

it('leaves the log to the connection that writes when the thread fails, and starts another for the next one', async () => {
  const { path, commitUpTo, log, writer } = openDatabase();
  const ended = new Promise((resolve) => {
    process.once('worker', (worker) => worker.once('exit', resolve));
  });
  renameSync(path, `${path}.moved`);
  commitUpTo(FULL_SIZE);
  writer.exec('insert into numbers values (1)');
  expect(log().log).toBe(1);
  await ended;
  renameSync(`${path}.moved`, path);
  commitUpTo(ASKED_AT);
  await vi.waitFor(() => expect(log()).toMatchObject({ log: ASKED_AT, checkpointed: ASKED_AT }), 5_000);
});

it('is asked once more only when the log has grown by as much again, while somebody reads an old state', async () => {
  const posted = vi.spyOn(Worker.prototype, 'postMessage');
  const { path, commitUpTo } = openDatabase();
  using backup = new DatabaseSync(path, { readOnly: true });
  backup.exec('begin; select 1 from numbers');
  commitUpTo(170);
  expect(posted).toHaveBeenCalledTimes(1);
  commitUpTo(180);
  expect(posted).toHaveBeenCalledTimes(2);
});

it('begins anew between two broad reads, of which each sees an old state of it for long', async () => {
  const { path, writer, log, logCopier } = openDatabase();
  const commit = () => {
    writer.exec('insert into numbers values (1)');
    logCopier.copyLongLog();
  };
  const { read, close } = readBeside(path, () => {}, logCopier.isTooLong);
  cleanups.push(close);
  const readAll = (count: number) =>
    read(
      `with recursive n(i) as (select count(*) from numbers union all select i + 1 from n where i < ${count})
        select count(*) from n`,
      [],
    );
  let isFirstOver = false;
  const first = readAll(10_000_000).then(() => {
    isFirstOver = true;
  });
  while (!logCopier.isTooLong()) {
    commit();
    await nextTurn();
  }
  let isSecondOver = false;
  const second = readAll(3_000_000).then(() => {
    isSecondOver = true;
  });
  expect(isFirstOver).toBe(false);
  await first;
  let shortest = log().log;
  expect(shortest).toBeGreaterThan(FULL_SIZE);
  while (!isSecondOver) {
    commit();
    // Longer than it takes to begin one read after another.
    await sleep(3);
    shortest = Math.min(shortest, log().log);
  }
  await second;
  expect(shortest).toBeLessThan(FULL_SIZE / 2);
});
