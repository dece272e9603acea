import { existsSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { SqliteFileInUse } from '../../store/engine/driver.ts';
import { StorageError } from '../../store/errors.ts';
import type { MasterKey } from '../../store/secret-box.ts';
import type { AuthorizedRead, ReadResult } from '../http/authorized-request.ts';
import { createPlaces } from '../places.ts';
import { type Answer, type Message, type Part, partOf, type ReadJob, type ThreadData } from './job.ts';

/** The name of the thread in lists of the system, which show 15 characters. */
const THREAD_NAME = 'lkm-reader';

/** Limits how many parts of responses are read at one time, in all and per token. */
export const createPlacesOfReads = () =>
  createPlaces('reads of many rows', { maxRunning: 8, maxWaiting: 128 }, { maxRunning: 2, maxWaiting: 32 });

/** How long a read waits at most for SQLite to restart the log. */
const MAX_PAUSE_MS = 100;

/** How often a waiting read checks whether SQLite has restarted the log. */
const PAUSE_MS = 5;

/**
 * Reads lists, numbers and exports of a SQLite database in one thread, so that neither queries nor the writing of JSON delay
 * other requests. The thread also copies the log when it is nearly full; it starts at the first read or copy.
 *
 * SQLite restarts its log only at a moment without readers of an older state. So while the log is too long, each read first
 * waits a moment, in which a writer can restart the log.
 */
export function createReadingThread(file: SqliteFileInUse, masterKey: MasterKey | null) {
  const places = createPlacesOfReads();
  const asked = new Map<number, PromiseWithResolvers<Answer>>();
  let worker: Worker | null = null;
  let reads = 0;
  let isClosed = false;

  function start(): Worker {
    file.check();
    const workerData: ThreadData = { path: file.path, masterKey };
    const options = { name: THREAD_NAME, workerData, execArgv: [], env: {} };
    const started = isSea()
      ? new Worker(getAsset('reading-thread.cjs', 'utf8'), { ...options, eval: true })
      : new Worker(script, options);
    let failure = new Error('the thread that reads has ended');
    started.on('message', (answer: Answer) => asked.get(answer.id)?.resolve(answer));
    started.on('error', (error) => {
      failure = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = null;
      for (const { reject } of asked.values()) reject(new StorageError(failure));
    });
    started.unref();
    return started;
  }

  function tell(message: Message): void {
    worker ??= start();
    worker.postMessage(message);
  }

  async function ask(id: number, next: ReadJob | 'part'): Promise<Part> {
    for (let paused = 0; file.isLogTooLong() && paused < MAX_PAUSE_MS; paused += PAUSE_MS) await sleep(PAUSE_MS);
    if (isClosed) throw new StorageError(new Error('the database was closed'));
    const answer = Promise.withResolvers<Answer>();
    asked.set(id, answer);
    try {
      tell({ id, next });
      return partOf(await answer.promise);
    } finally {
      asked.delete(id);
    }
  }

  file.copyLogBy(() => tell('copyLog'));

  return {
    /** Performs a read. */
    async read({ httpRequest, route, ...request }: AuthorizedRead, input: unknown): Promise<ReadResult> {
      const { caller, now, ipAddress } = request;
      const id = reads++;
      const token = caller.tokenId ?? '';
      const job: ReadJob = { operation: route.name, caller, input, now, ipAddress };
      const first = await places.run(token, () => ask(id, job), httpRequest.onClose);
      const { status, text } = first;
      if (first.isLast) return { status, body: text, replayed: false };
      const next = () => places.run(token, () => ask(id, 'part'));
      const end = () => !isClosed && tell({ id, next: 'nothing' });
      return { status, body: partsFrom(first, next, end), replayed: false };
    },
    /** Ends the thread with all its reads. Call it before the database is closed. */
    async close(): Promise<void> {
      isClosed = true;
      await worker?.terminate();
    },
  };
}

/**
 * The parts of a body, from the first. The next part is read when the caller has taken the part before it; a caller who stops
 * earlier ends the read.
 */
function partsFrom(first: Part, next: () => Promise<Part>, end: () => void): AsyncIterable<string> {
  let last = first;
  let isTaken = false;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (isTaken && last.isLast) return { done: true, value: undefined };
        if (isTaken) last = await next();
        isTaken = true;
        return { done: false, value: last.text };
      },
      async return() {
        if (!last.isLast) end();
        return { done: true, value: undefined };
      },
    }),
  };
}

/** The script of the thread: beside this file in a checkout, else where the build puts it. */
const script = import.meta.url.endsWith('.ts')
  ? new URL('./thread.ts', import.meta.url)
  : join(dirname(findPackageJSON(import.meta.url) ?? '.'), 'dist/server/reading-thread.cjs');

/** Whether the script of the thread exists. A program that bundles the server lacks it and reads without the thread. */
export const hasReadingThread = (): boolean => isSea() || existsSync(script);
