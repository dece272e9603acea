import { closeSync, constants, fdatasync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { z } from 'zod';
import { codeOf, LocalError } from '../failure/errors.ts';
import { readLines } from './lines.ts';

const Failure = z.object({
  code: z.string(),
  status: z.number().nullable(),
  message: z.string(),
});

/** Why the service refused a row. */
export type Failure = z.output<typeof Failure>;

const Line = z.discriminatedUnion('type', [
  /** A process takes the run over. */
  z.object({ type: z.literal('begin'), host: z.string(), pid: z.int(), startTime: z.string(), at: z.string() }),
  /** Rows up to this one may have been sent since then. */
  z.object({ type: z.literal('sending'), upTo: z.int(), at: z.string() }),
  z.object({
    type: z.literal('done'),
    row: z.int(),
    status: z.string(),
    attempt: z.int(),
    result: z.record(z.string(), z.unknown()),
  }),
  z.object({ type: z.literal('failed'), row: z.int(), attempt: z.int(), error: Failure }),
  /** A row is sent under a new key from now on. */
  z.object({ type: z.literal('again'), row: z.int(), attempt: z.int(), at: z.string() }),
  /** What rows refer to is there, under this id. */
  z.object({ type: z.literal('prepared'), need: z.string(), id: z.string() }),
  /** The results go to this file from now on; the SHA-256 of its content, as hexadecimal digits. */
  z.object({ type: z.literal('output'), path: z.string(), digest: z.string() }),
]);
export type Line = z.output<typeof Line>;

/** A line as it is read: one that is whole and cannot be read may have said anything. */
export type ReadLine = Line | { readonly type: 'broken' };

/** A file of lines that one process appends to. */
export interface RunJournal {
  /** Queues a line; lines reach the file in their order. Throws what the file system threw before. */
  add(line: Line): void;
  /** Writes the lines so far at once. Throws when they cannot be written. */
  write(): void;
  /** Resolves once every line so far is on the disk. Rejects when it cannot be written. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The lines of a journal, oldest first. One that its writer did not finish is broken too. */
export function* readJournal(path: string): Generator<ReadLine> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
  for (const text of readLines(path)) if (text !== '') yield parseLine(text);
}

function parseLine(text: string): ReadLine {
  try {
    const value: unknown = JSON.parse(text);
    return Line.safeParse(value).data ?? { type: 'broken' };
  } catch {
    return { type: 'broken' };
  }
}

const syncData = promisify(fdatasync);
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/**
 * Opens a journal to append to. Lines are written in one piece once the event loop turns, so that they outlive the
 * process, and are on the disk after `sync`, which many callers share.
 */
export function openJournal(path: string): RunJournal {
  const file = openSync(path, FLAGS, 0o600);
  // A line that a killed process left unfinished ends here.
  const { size } = fstatSync(file);
  let queue: string[] = size > 0 && !endsWithNewline(path, size) ? ['\n'] : [];
  let failure: unknown = null;
  let timer: NodeJS.Immediate | null = null;
  let syncing: Promise<void> | null = null;

  function write(): void {
    timer = null;
    const bytes = Buffer.from(queue.join(''));
    queue = [];
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    } catch (error) {
      failure ??= unwritable(path, error);
    }
  }

  function add(line: Line): void {
    if (failure !== null) throw failure;
    queue.push(`${JSON.stringify(line)}\n`);
    timer ??= setImmediate(write);
  }

  async function sync(): Promise<void> {
    // What is being synced now may not hold the last lines.
    await syncing;
    syncing ??= writeAndSync().finally(() => {
      syncing = null;
    });
    await syncing;
  }

  function writeNow(): void {
    if (timer !== null) clearImmediate(timer);
    write();
    if (failure !== null) throw failure;
  }

  async function writeAndSync(): Promise<void> {
    writeNow();
    await syncData(file).catch((error: unknown) => {
      throw unwritable(path, error);
    });
  }

  return {
    add,
    write: writeNow,
    sync,
    close: async () => {
      if (timer !== null) clearImmediate(timer);
      write();
      await syncing?.catch(() => {});
      closeSync(file);
    },
  };
}

const unwritable = (path: string, cause: unknown): LocalError =>
  new LocalError(
    `cannot write to ${path} (${codeOf(cause)})`,
    ['Make room there, and give the same command again: it goes on where it stopped.'],
    { cause },
  );

function endsWithNewline(path: string, size: number): boolean {
  const file = openSync(path, 'r');
  try {
    const last = Buffer.alloc(1);
    readSync(file, last, 0, 1, size - 1);
    return last[0] === 0x0a;
  } finally {
    closeSync(file);
  }
}
