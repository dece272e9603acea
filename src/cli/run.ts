import { exitCodes } from './failure/exit-codes.ts';
import type { Io } from './io.ts';

/** Runs one command line, without the words for node and script; resolves to its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const text = await textFor(argv, io);
  if (text === null) {
    const { runCommandLine } = await import('./run-command-line.ts');
    return runCommandLine(argv, io);
  }
  try {
    await io.stdout.write(text);
    return exitCodes.ok;
  } catch (error) {
    const { fail } = await import('./failure/fail.ts');
    const { unwritable } = await import('./output/write.ts');
    return fail(unwritable('to stdout', error), { argv, io });
  }
}

/** The text for the command lines that are typed most and need nothing but metadata: loading more takes longer. */
async function textFor(argv: readonly string[], io: Io): Promise<string | null> {
  const [word, ...others] = argv;
  if (others.length > 0) return null;
  if (word === '--version' || word === '-V') return `${io.version}\n`;
  if (word !== undefined && word !== '--help' && word !== '-h' && word !== 'help') return null;
  const [{ rootHelp }, { helpView }] = await Promise.all([import('./help/root.ts'), import('./help/section.ts')]);
  return rootHelp(helpView(argv, io));
}
