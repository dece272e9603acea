import { join } from 'node:path';
import { startListening } from '../../faults/process.ts';
import { createFolder } from '../support/engines.ts';

/** `lkm serve` from the sources, in a process of its own. */
export type Serving = Awaited<ReturnType<typeof startServing>>;

/** Serves a database on a free port; resolves once it is ready. */
export async function startServing(db: string, options: readonly string[] = []) {
  const home = await createFolder();
  const lkm = [process.execPath, join(import.meta.dirname, '../../src/cli/main.ts'), 'serve', '--db', db];
  const quiet = ['--port', '0', '--json', '--log-format', 'none', '--rate-limit', 'off'];
  const env = { PATH: process.env.PATH, HOME: home.path };
  const { url, end } = await startListening([...lkm, ...quiet, ...options], { env });
  return {
    url,
    /** `kill -9`, and waits for the end. */
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: async () => {
      await end('SIGTERM');
      await home[Symbol.asyncDispose]();
    },
  };
}
