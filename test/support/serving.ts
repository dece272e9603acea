import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createFolder } from './engines.ts';

/** `lkm serve` from the sources, in a process of its own. */
export type Serving = Awaited<ReturnType<typeof startServing>>;

/** Serves a database on a free port; resolves once it is ready. */
export async function startServing(db: string, options: readonly string[] = []) {
  const home = await createFolder();
  const lkm = join(import.meta.dirname, '../../src/cli/main.ts');
  const child = spawn(
    process.execPath,
    [lkm, 'serve', '--db', db, '--port', '0', '--json', '--log-format', 'none', '--rate-limit', 'off', ...options],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env.PATH, HOME: home.path } },
  );
  const exited = once(child, 'exit');
  const { value: line } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  if (line === undefined) throw new Error('lkm serve did not start');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  return {
    url: (JSON.parse(line) as { url: string }).url,
    /** `kill -9`, and waits for the end. */
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: async () => {
      await end('SIGTERM');
      await home[Symbol.asyncDispose]();
    },
  };
}
