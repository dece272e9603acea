import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { ReadTooBroad, StorageError } from '../../errors.ts';
import type { Values } from './connection.ts';
import { countRowsRead, EVERY } from './reader.ts';
import { startThread } from './thread.ts';

/** Rows that one statement may read: seconds, in which the other broad reads wait, and a few million keys counted. */
const MAX_ROWS_READ = 5_000_000;

/** How many there are at most: those that wait for them must not take the place of all other requests. */
const MAX_READS = 32;

/** How long a read waits for the log to begin anew, and how often it looks whether it has, in milliseconds. */
const [MAX_PAUSE_MS, PAUSE_MS] = [100, 5];

/** What the thread answers to a statement. */
type Answer = { readonly rows: readonly Values[] } | { readonly failure: string; readonly isTooBroad: boolean };

interface Read extends PromiseWithResolvers<readonly Values[]> {
  readonly text: string;
  readonly values: Values;
}

/**
 * Reads in a thread of its own, on a connection of its own, one statement after the other: what would hold up everybody in
 * the one thread that serves them. It sees all that was committed before.
 *
 * The log of the database cannot begin anew while somebody reads an old state of it. So when it is too long, the next read
 * waits until it has begun anew, or for a moment, if nobody writes.
 *
 * @param path absolute
 * @param check throws StorageError when the database is not at this path any more
 * @param isLogTooLong as {@link copyLogBeside} has it
 */
export function readBeside(path: string, check: () => void, isLogTooLong: () => boolean) {
  let worker: Worker | null = null;
  let asked: PromiseWithResolvers<Answer> | null = null;
  let isClosed = false;
  /** The first one is read. */
  const reads: Read[] = [];

  function start(): Worker {
    check();
    const source = `(url) => (${readWhenAsked})(url, ${MAX_ROWS_READ}, ${EVERY}, ${countRowsRead})`;
    return startThread(source, { name: 'lkm-reads', path, mode: 'ro' })
      .on('message', (answer: Answer) => asked?.resolve(answer))
      .on('exit', () => {
        worker = null;
        asked?.reject(new StorageError(new Error('the thread that reads has ended')));
      });
  }

  async function ask({ text, values }: Read): Promise<readonly Values[]> {
    for (let paused = 0; isLogTooLong() && paused < MAX_PAUSE_MS; paused += PAUSE_MS) await sleep(PAUSE_MS);
    if (isClosed) throw new StorageError(new Error('the database was closed'));
    worker ??= start();
    asked = Promise.withResolvers();
    worker.ref();
    worker.postMessage({ text, values });
    const answer = await asked.promise;
    worker?.unref();
    if ('rows' in answer) return answer.rows;
    throw new (answer.isTooBroad ? ReadTooBroad : StorageError)(new Error(answer.failure));
  }

  async function readAll(): Promise<void> {
    for (let [read] = reads; read !== undefined; [read] = reads) {
      await ask(read).then(read.resolve, read.reject);
      reads.shift();
    }
  }

  return {
    /**
     * The rows of a statement.
     *
     * @throws ReadTooBroad when it reads more than some million rows, StorageError when the database or the thread fails, or
     * when too many wait
     */
    async read(text: string, values: Values): Promise<readonly Values[]> {
      if (reads.length >= MAX_READS) throw new StorageError(new Error(`${MAX_READS} broad reads wait already`));
      const read = { text, values, ...Promise.withResolvers<readonly Values[]>() };
      if (reads.push(read) === 1) void readAll();
      return read.promise;
    },
    /** Ends the thread, and what it reads; to be called before the connections are closed. */
    async close(): Promise<void> {
      isClosed = true;
      await worker?.terminate();
    },
  };
}

/** What the thread runs. */
function readWhenAsked(url: string, most: number, every: number, count: typeof countRowsRead): void {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  const database = new DatabaseSync(url, { timeout: 5_000 });
  const rowsRead = count(database, most, every);
  parentPort?.on('message', ({ text, values }: { text: string; values: Values }) => {
    rowsRead.begin();
    try {
      const statement = database.prepare(text);
      statement.setReturnArrays(true);
      parentPort.postMessage({ rows: statement.all(...values) });
    } catch (error) {
      parentPort.postMessage({ failure: (error as Error).message, isTooBroad: rowsRead.isOver() });
    }
  });
}
