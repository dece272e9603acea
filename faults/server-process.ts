import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sabotage } from './sabotage.ts';

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process is gone: to null when it was killed, else to what it said before it ended by itself. */
  readonly exited: Promise<string | null>;
  signal(signal: NodeJS.Signals): void;
  /** `kill -9`, and waits for the end. */
  kill(): Promise<void>;
}

/**
 * Starts a server on a database; resolves once it listens.
 *
 * @param through a command that runs it, such as `nsenter`
 */
export async function startProcess(
  db: string,
  without: Sabotage | null,
  through: readonly string[] = [],
): Promise<ServerProcess> {
  const argv = [...through, process.execPath, join(import.meta.dirname, 'server.ts'), JSON.stringify({ db, without })];
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'lkm-faults-compiled') },
  });
  let talk = '';
  child.stderr.on('data', (chunk: Buffer) => {
    talk = `${talk}${chunk}`.slice(-4_000);
    if (process.env.LKM_FAULT_LOG !== undefined) process.stderr.write(chunk);
  });
  const exited = once(child, 'close').then(([, signal]) => (signal === 'SIGKILL' ? null : talk));
  const url = await Promise.race([
    once(child.stdout, 'data').then(([line]) => String(line).trim()),
    exited.then(() => {
      throw new Error(`the server did not start: ${talk}`);
    }),
  ]);
  child.stdin.on('error', () => {}); // it may be killed at any time
  return {
    url,
    pid: child.pid ?? 0,
    exited,
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
