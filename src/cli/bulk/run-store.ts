import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { toInstant } from '../../domain/time.ts';
import { stateDir, withLock } from '../config/files.ts';
import { codeOf, LocalError, NotFoundError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { moment } from '../output/words.ts';
import { readLines } from './lines.ts';
import { isObject } from './reading/columns.ts';
import type { RowBody } from './reading/read-bodies.ts';
import { BulkRun } from './run.ts';
import { type Line, openJournal, type ReadLine, type RunJournal, readJournal } from './run-journal.ts';

/** Where the runs of this user are written down. */
export const runsFolder = (io: Io): string => join(stateDir(io), 'jobs');

/** Where a run is written down. */
export const folderOf = (id: string, io: Io): string => join(runsFolder(io), id);

/** Runs what writes to that folder, without which a run could not go on. Throws `LocalError` where it cannot. */
export function writeRuns<T>(io: Io, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LocalError || !(error instanceof Error && 'code' in error)) throw error;
    throw new LocalError(
      `cannot write to ${runsFolder(io)} (${codeOf(error)})`,
      [
        'Nothing was sent. A run is written down before it is sent: set LKM_STATE_DIR to a folder that can be written to.',
      ],
      { cause: error },
    );
  }
}

/** A run that this process works on. */
export interface OpenRun {
  readonly run: BulkRun;
  readonly rows: Iterable<RowBody>;
  /** What was written down before, without what became of each row. */
  readonly lines: readonly Line[];
  readonly journal: RunJournal;
}

/** Reads a run; null when there is none with this id. */
export function readRun(id: string, io: Io): BulkRun | null {
  try {
    return BulkRun.parse(JSON.parse(readFileSync(join(folderOf(id, io), 'job.json'), 'utf8')));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return null;
    throw new LocalError(`${folderOf(id, io)} does not hold a run that this version of lkm can read`, [], {
      cause: error,
    });
  }
}

/** Every run, oldest first. */
export function listRuns(io: Io): BulkRun[] {
  const names = statSync(runsFolder(io), { throwIfNoEntry: false }) ? readdirSync(runsFolder(io)) : [];
  const runs = names.filter((name) => /^[0-9a-z]{12}$/.test(name)).map((id) => readRun(id, io));
  return runs.filter((run) => run !== null).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

/** The run that an id, the start of one, or a name stands for. Throws `NotFoundError`. */
export function findRun(text: string, io: Io): BulkRun {
  const runs = listRuns(io);
  const exact = runs.filter(({ id, name }) => id === text || name === text);
  const found = exact.length > 0 ? exact : runs.filter(({ id }) => text.length >= 4 && id.startsWith(text));
  const [run] = found;
  if (run !== undefined && found.length === 1) return run;
  const what = found.length === 0 ? `there is no run '${text}'` : `'${text}' stands for ${found.length} runs`;
  throw new NotFoundError(what, [['See them:', 'lkm jobs list']]);
}

/** The lines of a run's journal, one after the other. */
export const readLinesOf = (id: string, io: Io): Iterable<ReadLine> => readJournal(journalOf(id, io));

const journalOf = (id: string, io: Io): string => join(folderOf(id, io), 'journal.jsonl');

/** Takes a run over. Throws `LocalError` while another process works on it. */
export function takeOverRun(run: BulkRun, io: Io): OpenRun {
  const folder = folderOf(run.id, io);
  const path = journalOf(run.id, io);
  return writeRuns(io, () =>
    withLock(folder, io.uuid(), io, () => {
      const lines: Line[] = [];
      for (const line of readJournal(path)) if (line.type !== 'broken' && !('row' in line)) lines.push(line);
      refuseRunning(run, lines, io);
      const journal = openJournal(path);
      const startTime = io.processStartTime(io.pid) ?? '';
      journal.add({ type: 'begin', host: io.host, pid: io.pid, startTime, at: toInstant(io.now()) });
      journal.write();
      return { run, rows: readRows(run, io), lines, journal };
    }),
  );
}

/** Adds a line to the journal of a run that no process works on any more. */
export async function noteIn(id: string, line: Line, io: Io): Promise<void> {
  const journal = openJournal(journalOf(id, io));
  try {
    journal.add(line);
    await journal.sync();
  } finally {
    await journal.close();
  }
}

function refuseRunning({ id }: BulkRun, lines: readonly Line[], io: Io): void {
  const owner = lines.findLast((line) => line.type === 'begin');
  if (owner === undefined || owner.host !== io.host || owner.pid === io.pid) return;
  if (io.processStartTime(owner.pid) !== owner.startTime) return;
  throw new LocalError(`run ${id} is being worked on by process ${owner.pid}, since ${moment(owner.at)}`, [
    'Wait until it ends; then the same command prints the same rows.',
  ]);
}

/** The rows of a run, read anew each time that they are gone through. */
export const readRows = (run: BulkRun, io: Io): Iterable<RowBody> => ({
  [Symbol.iterator]: () => iterateRows(run, io),
});

function* iterateRows({ id, body, rows }: BulkRun, io: Io): Generator<RowBody> {
  if (body !== null) {
    for (let row = 1; row <= rows; row++) yield { line: null, body };
    return;
  }
  const folder = folderOf(id, io);
  for (const text of readLines(join(folder, 'rows.jsonl'))) {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || !isObject(value.body)) throw new LocalError(`${folder}/rows.jsonl is damaged`);
    yield { line: typeof value.line === 'number' ? value.line : null, body: value.body };
  }
}
