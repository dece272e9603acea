import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Io } from '../io.ts';
import { displayWidth } from './table.ts';

/**
 * Shows a text that is longer than the terminal with the person's pager, once `before` is done; false when it is to be
 * printed instead.
 */
export async function showInPager(text: string, io: Io, before: () => Promise<void>): Promise<boolean> {
  const { stdout } = io;
  if (io.runPager === undefined || stdout.lines === undefined) return false;
  if (!isLonger(text, stdout.lines, stdout.columns)) return false;
  const program = pagerOf(io);
  if (program === null) return false;
  await before();
  return io.runPager(program, text);
}

/** Whether a text fills more lines of a terminal than it has, long lines wrapped. */
function isLonger(text: string, lines: number, columns: number): boolean {
  let filled = 0;
  for (const line of text.split('\n')) {
    filled += Math.max(1, Math.ceil(displayWidth(line) / columns));
    if (filled > lines) return true;
  }
  return false;
}

/** The pager: `LKM_PAGER`, `PAGER`, else less where it is installed; null for none, which `cat` or nothing says. */
function pagerOf({ env, platform }: Io): string | null {
  const chosen = env.LKM_PAGER ?? env.PAGER;
  if (chosen !== undefined) return chosen.trim() === '' || chosen.trim() === 'cat' ? null : chosen;
  if (platform === 'win32') return null;
  return (env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'less'))) ? 'less' : null;
}

/** For a shell that finds no such program, or cannot run it. */
const NOT_RUN = [126, 127];

/** Gives a text to a pager; resolves once that has ended, to whether it ran. */
export function runPager(program: string, text: string, env: Io['env']): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      // Colours, no screen of its own, and an end by itself where all fits: as gh and git have it.
      env: { LESS: 'FRX', LV: '-c', ...env },
    });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(!NOT_RUN.includes(code ?? 0)));
    // Whoever leaves before the end closes the pipe.
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}
