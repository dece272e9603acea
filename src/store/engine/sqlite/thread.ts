import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';

/** What a thread is started with. */
export interface ThreadOptions {
  /** The name of the thread, as the system lists it; it has room for 15 characters. */
  readonly name: string;
  /** The absolute path of a database, and how the thread opens it. */
  readonly path: string;
  readonly mode: 'ro' | 'rw';
}

/**
 * Starts a thread that does not keep the process from ending. To load threads takes longer than most commands do, so they are
 * loaded here.
 *
 * @param source a function. It is sent as text, and called with the URL of the database; it uses nothing of its module
 */
export function startThread(source: string, { name, path, mode }: ThreadOptions): Worker {
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const url = pathToFileURL(path);
  url.searchParams.set('mode', mode);
  const started = new Worker(`(${source})(${JSON.stringify(url.href)})`, { eval: true, execArgv: [], env: {}, name });
  started.on('error', () => {}); // its end follows
  started.unref();
  return started;
}
