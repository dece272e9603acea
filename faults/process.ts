import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';

/** A process with what it says and how it ends. */
export interface Child {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** The last that it said on stderr. */
  said(): string;
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal, and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** A process that serves. */
export interface Listening extends Child {
  readonly url: string;
}

interface Options {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** How long it may take, in milliseconds; then it is killed. */
  readonly timeout?: number;
  /** Whether it has an open stdin, whose end tells it that this process is gone. */
  readonly hasStdin?: boolean;
  /** Whether nobody reads its stderr. */
  readonly isQuiet?: boolean;
}

/** The built command, as the first words of a command line. */
export const lkm = [process.execPath, join(import.meta.dirname, '../bin/lkm.js')] as const;

/** Those that run: however this process ends, it leaves none behind. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a process. */
export function start(argv: readonly string[], { hasStdin, isQuiet, ...options }: Options = {}): Child {
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    ...options,
    stdio: [hasStdin ? 'pipe' : 'ignore', 'pipe', isQuiet ? 'ignore' : 'pipe'],
    killSignal: 'SIGKILL',
  });
  running.add(child);
  child.stdin?.on('error', () => {}); // it may be killed at any time
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const closed = child.stderr === null ? null : finished(child.stderr).catch(() => {});
  const ended = once(child, 'exit').then(async ([code, signal]) => {
    running.delete(child);
    await closed;
    return code ?? signal;
  });
  ended.catch(() => {}); // whoever waits for it is told
  return {
    pid: child.pid ?? 0,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    ended,
    said: () => said,
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}

/** Starts a server that says its address as JSON; resolves once it listens. Throws when it does not. */
export async function startListening(argv: readonly string[], options?: Options): Promise<Listening> {
  const child = start(argv, options);
  const outcome = await Promise.race([firstLine(child), child.ended]);
  if (typeof outcome !== 'object') throw new Error(`the server did not start: ${child.said()}`);
  return { ...child, url: outcome.url };
}

/** What a server says of itself first. */
export async function firstLine({ stdout }: Child): Promise<{ readonly url: string }> {
  const [line] = await once(stdout, 'data');
  return JSON.parse(String(line));
}

/** Runs a process to its end; resolves to what it prints. Throws when it fails. */
export async function run(argv: readonly string[], options: Options): Promise<string> {
  const child = start(argv, options);
  const [stdout, code] = await Promise.all([text(child.stdout), child.ended]);
  if (code !== 0) throw new Error(`${argv.slice(1, 4).join(' ')} ended with ${code}: ${child.said()}`);
  return stdout.trim();
}

/**
 * Attaches strace to a thread; resolves to what detaches it, once all that was written down is in the file.
 *
 * @param pid of a process, or of one of its threads
 * @param options such as `-e inject=fsync:error=EIO`; with `-f` it is attached to all threads of the process
 */
export async function trace(pid: number, options: readonly string[]): Promise<() => Promise<void>> {
  const child = start(['strace', ...options, '-p', String(pid)]);
  while (!child.said().includes('attached')) {
    const code = await Promise.race([child.ended, new Promise<null>((resolve) => setTimeout(resolve, 5, null))]);
    if (code !== null) throw new Error(`strace did not attach: ${child.said()}`);
  }
  return () => child.end('SIGINT');
}

/** A thread of a process, by its name: the one that reads, and copies SQLite's log, unless another is given. Null while there is none. */
export function findThread(pid: number, name = 'lkm-reader'): number | null {
  const thread = readdirSync(`/proc/${pid}/task`).find((one) => {
    try {
      return readFileSync(`/proc/${pid}/task/${one}/comm`, 'utf8') === `${name}\n`;
    } catch {
      return false; // it has ended
    }
  });
  return thread === undefined ? null : Number(thread);
}

/** What this machine lacks for tracing; null when it can be done. */
export function lacksStrace(): string | null {
  const { status } = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
  return status === 0 ? null : 'strace cannot trace here';
}
