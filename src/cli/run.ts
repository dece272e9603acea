import { exitCodes } from './failure/errors.ts';
import type { Io } from './io.ts';
import { print } from './output/standard-output.ts';
import type { RunState } from './run-state.ts';

/** Runs one command line and resolves to its exit code. Errors are caught here and nowhere else. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const state: RunState = { argv, io };
  const code = await runLine(state).catch((error: unknown) => explain(error, state));
  try {
    state.destination?.discard();
    await state.context?.close();
    return code;
  } catch (error) {
    return code === exitCodes.ok ? explain(error, state) : code;
  }
}

async function runLine(state: RunState): Promise<number> {
  const { argv, io } = state;
  if (argv[0] === COMPLETE) return completeFor(argv.slice(1), io);
  const text = await textFor(argv, io);
  if (text !== null) return show(text, io);
  const { runCommandLine } = await import('./program.ts');
  return runCommandLine(state);
}

/** The first word that the scripts of `lkm completion` send at each TAB. */
const COMPLETE = '__complete';

/** TAB shows no errors: candidates that cannot be determined are not offered. */
async function completeFor(words: readonly string[], io: Io): Promise<number> {
  const { complete, printCompletion } = await import('./completion/complete.ts');
  const text = await complete(words, io).then(printCompletion, () => '');
  return show(text, io);
}

/** The most frequent command lines that need only metadata; loading the rest takes longer. */
async function textFor(argv: readonly string[], io: Io): Promise<string | null> {
  const [word, ...others] = argv;
  if (others.length > 0) return null;
  if (word === '--version' || word === '-V') return `${io.version}\n`;
  if (word !== undefined && word !== '--help' && word !== '-h' && word !== 'help') return null;
  const [{ rootHelp }, { helpView }] = await Promise.all([import('./help/pages.ts'), import('./help/section.ts')]);
  return rootHelp(helpView(argv, io));
}

async function show(text: string, io: Io): Promise<number> {
  await print(text, io);
  return exitCodes.ok;
}

async function explain(error: unknown, state: RunState): Promise<number> {
  const { fail } = await import('./failure/fail.ts');
  return fail(error, state);
}
