import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionLimits } from '../src/server/http/transport/connections.ts';
import type { Sabotage } from './sabotage.ts';

/** How a server differs from one that is started without options. */
export interface ServerSetup {
  readonly limits?: Partial<ConnectionLimits>;
  readonly drainMs?: number;
  /** Serves HTTPS with the certificate of the tests. */
  readonly tls?: boolean;
  /** Has webhooks sent to programs on this machine, in a hurry. */
  readonly webhooks?: {
    readonly timeoutMs: number;
    readonly leaseSeconds: number;
    readonly schedule: readonly number[];
  };
  /** The file that its log goes to; without one it has no log. */
  readonly log?: string;
}

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /**
   * Resolves when the process is gone: to null when it was killed, or stopped as it should, else to what it said before
   * it ended by itself.
   */
  readonly exited: Promise<string | null>;
  signal(signal: NodeJS.Signals): void;
  /** Asks it to stop, and waits for the end as long as `timeoutMs`; then kills it. False when it had to be killed. */
  stop(timeoutMs: number): Promise<boolean>;
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
  { through = [], setup = {} }: { readonly through?: readonly string[]; readonly setup?: ServerSetup } = {},
): Promise<ServerProcess> {
  const given = JSON.stringify({ db, without, setup });
  const argv = [...through, process.execPath, join(import.meta.dirname, 'server.ts'), given];
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'lkm-faults-compiled') },
  });
  let talk = '';
  let isStopping = false;
  child.stderr.on('data', (chunk: Buffer) => {
    talk = `${talk}${chunk}`.slice(-4_000);
    if (process.env.LKM_FAULT_LOG !== undefined) process.stderr.write(chunk);
  });
  const exited = once(child, 'close').then(([code, signal]) => {
    if (signal === 'SIGKILL' || (isStopping && code === 0)) return null;
    return `${talk}${signal ?? code}`;
  });
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
    async stop(timeoutMs) {
      isStopping = true;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
      await exited;
      clearTimeout(timer);
      return child.signalCode !== 'SIGKILL';
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
