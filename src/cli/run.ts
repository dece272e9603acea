import { exitCodes } from './failure/errors.ts';
import type { Io } from './io.ts';
import { print } from './output/standard-output.ts';
import type { RunState } from './run-state.ts';

/** Runs one command line and resolves to its exit code. The one place that catches errors. */
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

/** What the scripts of `lkm completion` call at each TAB. */
const COMPLETE = '__complete';

/** A person who presses TAB is shown no errors: what cannot be found out is not offered. */
async function completeFor(words: readonly string[], io: Io): Promise<number> {
  const { complete, printCompletion } = await import('./completion/complete.ts');
  const text = await complete(words, io).then(printCompletion, () => '');
  return show(text, io);
}

/** The text for the command lines that are typed most and need nothing but metadata: loading more takes longer. */
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
