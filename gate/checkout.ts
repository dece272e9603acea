import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** A copy of the working tree in a temporary folder, with its dependencies installed. */
export interface Checkout extends Disposable {
  readonly path: string;
  /** Writes files, runs `work`, and puts everything back as it was. */
  withFiles<T>(files: Files, work: () => T | Promise<T>): Promise<T>;
}

/** The new content of files by path; a function gets the old one. */
export type Files = Readonly<Record<string, string | ((old: string) => string)>>;

/** How a command ended. */
export interface Ended {
  readonly status: number | null;
  /** Both streams. */
  readonly output: string;
}

/** Makes a signal end the process through `exit`, so that its copies are removed. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
}

const listFiles = (...options: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '-z', ...options], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean);

/** Copies every file that git knows or would add, and links `node_modules`, which takes no space. */
export function copyCheckout(): Checkout {
  const path = mkdtempSync(join(tmpdir(), 'lkm-gate-'));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', remove);
  const deleted = listFiles('--deleted');
  for (const file of listFiles('--cached', '--others', '--exclude-standard')) {
    if (deleted.includes(file)) continue;
    cpSync(join(root, file), join(path, file), { recursive: true });
  }
  const link = spawnSync('cp', ['-al', join(root, 'node_modules'), path], { stdio: 'ignore' });
  if (link.status !== 0) cpSync(join(root, 'node_modules'), join(path, 'node_modules'), { recursive: true });
  execFileSync('git', ['init', '--quiet'], { cwd: path });
  return {
    path,
    async withFiles(files, work) {
      const before = Object.keys(files).map((file) => [join(path, file), readIfThere(join(path, file))] as const);
      try {
        for (const [file, content] of Object.entries(files)) write(join(path, file), content);
        return await work();
      } finally {
        for (const [file, text] of before) text === null ? rmSync(file, { force: true }) : writeFileSync(file, text);
      }
    },
    [Symbol.dispose]: () => {
      process.off('exit', remove);
      remove();
    },
  };
}

/** More than a run of all tests prints, in bytes. */
const MAX_OUTPUT_BYTES = 64 * 1_024 * 1_024;

/** Runs a command to its end. Throws if it cannot start, takes too long or prints too much: such an end shows nothing. */
export function run(cwd: string, command: readonly string[], env: Readonly<Record<string, string>> = {}): Ended {
  const [program = '', ...args] = command;
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 300_000,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (error) throw error;
  return { status, output: `${stdout}${stderr}` };
}

function write(file: string, content: Files[string]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : content(readFileSync(file, 'utf8')));
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
