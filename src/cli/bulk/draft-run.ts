import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, syncFolder } from '../config/files.ts';
import type { Io } from '../io.ts';
import type { RowBody } from './reading/read-bodies.ts';
import type { BulkRun } from './run.ts';
import { folderOf, runsFolder, writeRuns } from './run-store.ts';

/** A run that is being written down. Nobody sees it before it is whole. */
export interface DraftRun {
  /** Writes the next row. */
  add(row: RowBody): void;
  /** Makes it a run. It stays as it is when another process has done so meanwhile. */
  commit(run: BulkRun): void;
  /** Leaves nothing behind, unless it has become a run. */
  discard(): void;
}

const ROWS_AT_ONCE = 1_000;

/** Begins to write a run down; nothing is made before its first row, or itself. */
export function draftRun(io: Io): DraftRun {
  const folder = runsFolder(io);
  const aside = join(folder, `${io.uuid()}.tmp`);
  let isBegun = false;
  /** Whether no run was written down before. */
  let isFirst = false;
  let rows: number | null = null;
  let queue: string[] = [];

  function begin(): void {
    if (isBegun) return;
    isFirst = statSync(folder, { throwIfNoEntry: false }) === undefined;
    makePrivateFolder(folder, io);
    removeAbandoned(folder, io.now());
    mkdirSync(aside, { mode: 0o700 });
    isBegun = true;
  }

  function add(row: RowBody): void {
    begin();
    rows ??= openSync(join(aside, 'rows.jsonl'), 'wx', 0o600);
    if (queue.push(`${JSON.stringify(row)}\n`) >= ROWS_AT_ONCE) flush(rows);
  }

  function flush(file: number): void {
    writeAll(file, queue.join(''));
    queue = [];
  }

  function closeRows(): void {
    if (rows !== null) closeSync(rows);
    rows = null;
  }

  function commit(run: BulkRun): void {
    begin();
    if (rows !== null) {
      flush(rows);
      fsyncSync(rows);
    }
    closeRows();
    const file = openSync(join(aside, 'job.json'), 'wx', 0o600);
    writeAll(file, `${JSON.stringify(run)}\n`);
    fsyncSync(file);
    closeSync(file);
    syncFolder(aside);
    const final = folderOf(run.id, io);
    try {
      renameSync(aside, final);
    } catch (error) {
      if (statSync(join(final, 'job.json'), { throwIfNoEntry: false }) === undefined) throw error;
      return;
    }
    isBegun = false;
    syncFolder(folder);
  }

  function discard(): void {
    closeRows();
    if (!isBegun) return;
    isBegun = false;
    rmSync(aside, { recursive: true, force: true });
    if (isFirst) removeIfEmpty(folder);
  }

  return {
    add: (row) => writeRuns(io, () => add(row)),
    commit: (run) => writeRuns(io, () => commit(run)),
    discard,
  };
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

const DAY_MS = 86_400_000;

/** Drafts of processes that were killed. */
function removeAbandoned(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.tmp')) continue;
    const path = join(folder, name);
    const written = lastWritten(join(path, 'rows.jsonl')) ?? lastWritten(path) ?? now;
    if (now - written > DAY_MS) rmSync(path, { recursive: true, force: true });
  }
}

const lastWritten = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

function removeIfEmpty(folder: string): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
