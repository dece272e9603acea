import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import type { Prompter } from '../../src/cli/prompts/prompt.ts';
import { run } from '../../src/cli/run.ts';

/** What a test decides about the surroundings of a command. */
export interface Surroundings {
  /** Which streams are terminals; none unless given. */
  readonly terminal?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Buffer;
  readonly fetch?: Io['fetch'];
  readonly prompter?: Prompter;
  readonly stop?: AbortSignal;
  /** Where SIGHUP comes from, as an event `hangup`. */
  readonly hangup?: EventTarget;
  readonly cwd?: string;
  /** Its pid; 4121 unless given. */
  readonly pid?: number;
  /** Which processes run; all unless given. */
  readonly isRunning?: (pid: number) => boolean;
  readonly host?: string;
  /** The home folder; the working folder unless given. */
  readonly home?: string | null;
  readonly uid?: number;
  readonly groups?: readonly number[];
  readonly now?: number;
  /** What becomes of a write to stdout; it is taken unless given. */
  readonly stdout?: 'EPIPE' | 'ENOSPC' | 'EIO' | 'EBADF' | undefined;
}

/** What a command left behind. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The instant it is in every test. */
export const NOW = Date.parse('2026-11-21T12:00:00.000Z');

export const tempFolder = (): string => mkdtempSync(join(tmpdir(), 'lkm-test-'));

/** How many identifiers were made up in a folder: a later command there must not make up the same ones. */
const uuidsOf = new Map<string, number>();

/** Runs a command line in this process, in a folder, home and time of its own. */
export async function lkm(argv: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const { io, printed } = fakeIo(surroundings);
  const code = await run(argv, io);
  return { code, ...printed };
}

/** An `Io` that touches nothing of this machine but a folder of its own, and what was printed to it. */
export function fakeIo(surroundings: Surroundings = {}): { io: Io; printed: { stdout: string; stderr: string } } {
  const { terminal = false, columns = 80, env = {}, stdin = '', fetch, prompter = nobody } = surroundings;
  const { stop = new AbortController().signal, cwd = tempFolder() } = surroundings;
  const { home = cwd, uid = process.getuid?.() ?? null, groups = [] } = surroundings;
  const { hangup, pid = 4121, isRunning = () => true, host = 'here', now = NOW, stdout } = surroundings;
  const tty = typeof terminal === 'boolean' ? { stdin: terminal, stdout: terminal, stderr: terminal } : terminal;
  const printed = { stdout: '', stderr: '' };
  const outputTo = (name: 'stdout' | 'stderr') => ({
    isTTY: tty[name] ?? false,
    columns,
    write: async (text: string) => {
      if (name === 'stdout' && stdout === 'EPIPE') return false;
      if (name === 'stdout' && stdout) throw Object.assign(new Error(`${stdout}: write`), { code: stdout });
      printed[name] += text;
      return true;
    },
  });
  const io: Io = {
    stdin: {
      isTTY: tty.stdin ?? false,
      chunks: () => Readable.from([Buffer.from(stdin)]),
    },
    stdout: outputTo('stdout'),
    stderr: outputTo('stderr'),
    env,
    cwd,
    home,
    tempDir: cwd,
    platform: 'linux',
    nodeVersion: '24.15.0',
    version: '0.0.0-dev',
    pid,
    isRunning,
    user: 'vendor',
    uid,
    groups,
    umask: 0o022,
    host,
    now: () => now,
    uuid: () => {
      const number = (uuidsOf.get(cwd) ?? 0) + 1;
      uuidsOf.set(cwd, number);
      return `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`;
    },
    stop,
    onHangup: (listener) => {
      hangup?.addEventListener('hangup', listener);
      return () => hangup?.removeEventListener('hangup', listener);
    },
    prompter: () => prompter,
    fetch,
    // Time does not pass, but what waits gets its turn.
    timing: {
      now: () => now,
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
      random: () => 0,
      newKey: () => 'not used',
    },
  };
  return { io, printed };
}

/** A person who answers these questions; any other is an error. */
export const person = (answers: Partial<Prompter>): Prompter => ({ ...nobody, ...answers });

/** A prompter for tests in which nothing may be asked. */
const nobody: Prompter = {
  confirm: (question) => Promise.reject(new Error(`asked: ${question}`)),
  type: (question) => Promise.reject(new Error(`asked: ${question}`)),
  secret: (question) => Promise.reject(new Error(`asked: ${question}`)),
  choose: (question) => Promise.reject(new Error(`asked: ${question}`)),
  search: (question) => Promise.reject(new Error(`asked: ${question}`)),
};

/** What a text has in it, in place of all of it. */
export const says = (text: string): string => expect.stringContaining(text);
