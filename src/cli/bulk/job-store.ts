import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { toInstant } from '../../domain/time.ts';
import { makePrivateFolder, stateDir, syncFolder, withLock } from '../config/files.ts';
import { LocalError, NotFoundError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { moment } from '../output/words.ts';
import { isObject } from './columns.ts';
import { Job } from './job.ts';
import { type JobJournal, type Line, openJournal, readJournal } from './job-journal.ts';
import type { RowBody } from './read-bodies.ts';

/** Where the runs of this user are written down. */
export const jobsFolder = (io: Io): string => join(stateDir(io), 'jobs');

const folderOf = (id: string, io: Io): string => join(jobsFolder(io), id);

/** A run that this process works on. */
export interface OpenJob {
  readonly job: Job;
  readonly rows: readonly RowBody[];
  /** What was written down before. */
  readonly lines: readonly Line[];
  readonly journal: JobJournal;
}

/** Reads a run; null when there is none with this id. */
export function readJob(id: string, io: Io): Job | null {
  try {
    return Job.parse(JSON.parse(readFileSync(join(folderOf(id, io), 'job.json'), 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new LocalError(`${folderOf(id, io)} does not hold a run that this version of lkm can read`, [], {
      cause: error,
    });
  }
}

/** Every run, oldest first. */
export function listJobs(io: Io): Job[] {
  const names = statSync(jobsFolder(io), { throwIfNoEntry: false }) ? readdirSync(jobsFolder(io)) : [];
  const jobs = names.filter((name) => /^[0-9a-z]{12}$/.test(name)).map((id) => readJob(id, io));
  return jobs.filter((job) => job !== null).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

/** The run that an id, the start of one, or a name stands for. Throws `NotFoundError`. */
export function findJob(text: string, io: Io): Job {
  const jobs = listJobs(io);
  const exact = jobs.filter(({ id, name }) => id === text || name === text);
  const found = exact.length > 0 ? exact : jobs.filter(({ id }) => text.length >= 4 && id.startsWith(text));
  const [job] = found;
  if (job !== undefined && found.length === 1) return job;
  const what = found.length === 0 ? `there is no run '${text}'` : `'${text}' stands for ${found.length} runs`;
  throw new NotFoundError(what, [['See them:', 'lkm jobs list']]);
}

/** The lines of a run's journal. */
export const readLines = (id: string, io: Io): Line[] => readJournal(join(folderOf(id, io), 'journal.jsonl'));

/** Writes a run down, all of it or nothing. It stays as it is when another process has done so meanwhile. */
export function writeJob(job: Job, rows: readonly RowBody[], io: Io): void {
  makePrivateFolder(jobsFolder(io), io);
  const folder = folderOf(job.id, io);
  const aside = `${folder}.${io.uuid()}.tmp`;
  mkdirSync(aside, { mode: 0o700 });
  try {
    if (job.body === null) writeFile(join(aside, 'rows.jsonl'), linesOf(rows));
    writeFile(join(aside, 'job.json'), [`${JSON.stringify(job)}\n`]);
    syncFolder(aside);
    renameSync(aside, folder);
    syncFolder(jobsFolder(io));
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    if (statSync(join(folder, 'job.json'), { throwIfNoEntry: false }) === undefined) throw error;
  }
}

function* linesOf(rows: readonly RowBody[]): Generator<string> {
  for (const row of rows) yield `${JSON.stringify(row)}\n`;
}

const CHUNK = 1_000;

function writeFile(path: string, texts: Iterable<string>): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    let chunk: string[] = [];
    for (const text of texts) if (chunk.push(text) === CHUNK) chunk = writeChunk(file, chunk);
    writeChunk(file, chunk);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function writeChunk(file: number, texts: readonly string[]): string[] {
  const bytes = Buffer.from(texts.join(''));
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  return [];
}

/** Takes a run over. Throws `LocalError` while another process works on it. */
export function openJob(job: Job, io: Io): OpenJob {
  const folder = folderOf(job.id, io);
  const path = join(folder, 'journal.jsonl');
  return withLock(folder, io.uuid(), io, () => {
    const lines = readJournal(path);
    refuseRunning(job, lines, io);
    const journal = openJournal(path);
    const startTime = io.processStartTime(io.pid) ?? '';
    journal.add({ type: 'begin', host: io.host, pid: io.pid, startTime, at: toInstant(io.now()) });
    journal.write();
    return { job, rows: readRows(job, io), lines, journal };
  });
}

function refuseRunning({ id }: Job, lines: readonly Line[], io: Io): void {
  const owner = lines.findLast((line) => line.type === 'begin');
  if (owner === undefined || owner.host !== io.host || owner.pid === io.pid) return;
  if (io.processStartTime(owner.pid) !== owner.startTime) return;
  throw new LocalError(`run ${id} is being worked on by process ${owner.pid}, since ${moment(owner.at)}`, [
    'Wait until it ends; then the same command prints the same rows.',
  ]);
}

/** The rows of a run. */
export function readRows({ id, body, rows }: Job, io: Io): RowBody[] {
  const folder = folderOf(id, io);
  if (body !== null) return Array.from({ length: rows }, () => ({ line: null, body }));
  const texts = readFileSync(join(folder, 'rows.jsonl'), 'utf8').split('\n').slice(0, rows);
  return texts.map((text): RowBody => {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || !isObject(value.body)) throw new LocalError(`${folder}/rows.jsonl is damaged`);
    return { line: typeof value.line === 'number' ? value.line : null, body: value.body };
  });
}
