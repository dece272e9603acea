import { exitCodes } from './failure/exit-codes.ts';
import type { Io } from './io.ts';
import { shortcut } from './shortcut.ts';

/** Runs one command line, without the words for node and script; resolves to its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const text = shortcut(argv, io);
  if (text === null) {
    const { runCommandLine } = await import('./run-command-line.ts');
    return runCommandLine(argv, io);
  }
  await io.stdout.write(text);
  return exitCodes.ok;
}
