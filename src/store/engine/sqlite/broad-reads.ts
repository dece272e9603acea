import type { Worker } from 'node:worker_threads';
import { ReadTooBroad, StorageError } from '../../errors.ts';
import type { Values } from './connection.ts';
import { countRowsRead, EVERY } from './reader.ts';
import { startThread } from './thread.ts';

/** Rows that one statement may read: seconds, in which the other broad reads wait, and a few million keys counted. */
const MAX_ROWS_READ = 5_000_000;

/** How many statements wait at most: those that wait for them must not take the place of all other requests. */
const MAX_WAITING = 32;

/** What the thread answers to each statement, in their order. */
type Answer = { readonly rows: readonly Values[] } | { readonly failure: string; readonly isTooBroad: boolean };

/**
 * Reads in a thread of its own, on a connection of its own, one statement after the other: what would hold up everybody in
 * the one thread that serves them. It sees all that was committed before.
 *
 * @param path absolute
 * @param check throws StorageError when the database is not at this path any more
 */
export function readBeside(path: string, check: () => void) {
  let worker: Worker | null = null;
  const waiting: PromiseWithResolvers<readonly Values[]>[] = [];

  function start(): Worker {
    check();
    const source = `(url) => (${readWhenAsked})(url, ${MAX_ROWS_READ}, ${EVERY}, ${countRowsRead})`;
    return startThread(source, { name: 'lkm-reads', path, mode: 'ro' })
      .on('message', settle)
      .on('exit', () => {
        worker = null;
        for (const { reject } of waiting.splice(0))
          reject(new StorageError(new Error('the thread that reads has ended')));
      });
  }

  function settle(answer: Answer): void {
    const asked = waiting.shift();
    if (waiting.length === 0) worker?.unref();
    if ('rows' in answer) asked?.resolve(answer.rows);
    else asked?.reject(new (answer.isTooBroad ? ReadTooBroad : StorageError)(new Error(answer.failure)));
  }

  return {
    /**
     * The rows of a statement.
     *
     * @throws ReadTooBroad when it reads more than some million rows, StorageError when the database or the thread fails, or
     * when too many wait
     */
    async read(text: string, values: Values): Promise<readonly Values[]> {
      if (waiting.length >= MAX_WAITING) throw new StorageError(new Error(`${MAX_WAITING} broad reads wait already`));
      worker ??= start();
      worker.ref();
      worker.postMessage({ text, values });
      const asked = Promise.withResolvers<readonly Values[]>();
      waiting.push(asked);
      return asked.promise;
    },
    /** Ends the thread, and what it reads; to be called before the connections are closed. */
    async close(): Promise<void> {
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
