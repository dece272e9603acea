import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from '../../src/cli/io.ts';
import type { Prompter } from '../../src/cli/prompt.ts';
import { run } from '../../src/cli/run.ts';

/** What a test decides about the surroundings of a command. */
export interface Surroundings {
  /** Which streams are terminals; none unless given. */
  readonly terminal?: boolean | { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly fetch?: Io['fetch'];
  readonly prompter?: Prompter;
  readonly stop?: AbortSignal;
  readonly cwd?: string;
  /** The number in the first identifier that is made up; 1 unless given. */
  readonly uuidsFrom?: number;
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

/** Runs a command line in this process, in a folder, home and time of its own. */
export async function lkm(argv: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const { io, printed } = fakeIo(surroundings);
  const code = await run(argv, io);
  return { code, ...printed };
}

/** An `Io` that touches nothing of this machine but a folder of its own, and what was printed to it. */
export function fakeIo(surroundings: Surroundings = {}): { io: Io; printed: { stdout: string; stderr: string } } {
  const { terminal = false, columns = 80, env = {}, stdin = '', fetch, prompter = nobody } = surroundings;
  const { stop = new AbortController().signal, cwd = tempFolder(), uuidsFrom = 1 } = surroundings;
  const tty = typeof terminal === 'boolean' ? { stdin: terminal, stdout: terminal, stderr: terminal } : terminal;
  const printed = { stdout: '', stderr: '' };
  let uuids = uuidsFrom;
  const outputTo = (name: 'stdout' | 'stderr') => ({
    isTTY: tty[name] ?? false,
    columns,
    write: async (text: string) => {
      printed[name] += text;
    },
  });
  const io: Io = {
    stdin: { isTTY: tty.stdin ?? false, readText: async () => stdin },
    stdout: outputTo('stdout'),
    stderr: outputTo('stderr'),
    env,
    cwd,
    home: cwd,
    tempDir: cwd,
    platform: 'linux',
    nodeVersion: '24.15.0',
    pid: 4121,
    now: () => NOW,
    uuid: () => `${String(uuids++).padStart(8, '0')}-0000-4000-8000-000000000000`,
    stop,
    prompter,
    fetch,
    timing: { now: () => NOW, sleep: async () => {}, random: () => 0, newKey: () => 'not used' },
  };
  return { io, printed };
}

/** A prompter for tests in which nothing may be asked. */
const nobody: Prompter = {
  confirm: (question) => Promise.reject(new Error(`asked: ${question}`)),
  type: (question) => Promise.reject(new Error(`asked: ${question}`)),
};
