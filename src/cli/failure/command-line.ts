import type { CommanderError } from 'commander';
import { withoutBrackets } from '../help/section.ts';
import { commandEntries, groups } from '../tree.ts';
import { type Hint, UsageError } from './errors.ts';

/** The error for a command line that commander does not take, with what may have been meant. */
export function explainCommandLine(error: CommanderError, path: string, argv: readonly string[]): UsageError {
  // Commander's suggestion has a line of its own; here it is part of the message.
  const [, what = error.message, meant] =
    /^(?:error: )?(.*?)(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/s.exec(error.message) ?? [];
  const message = withoutBrackets(what);
  const typed = /'([^']*)'/.exec(what)?.[1] ?? '';
  const near = (meant ?? '').split(', ').filter((word) => word !== '' && isTypoOf(typed, word));
  const likely = error.code === 'commander.unknownCommand' ? [...inOrder(argv), ...near] : near;
  const question = likely.length > 0 ? `. Did you mean ${likely.join(' or ')}?` : '';
  return new UsageError(`${message}${question}`, [...hintsForUsage(error, argv), ['See:', `${path} --help`]], {
    cause: error,
  });
}

/** Whether the word may have been meant: it begins in the same way, and is not the opposite (checkin, checkout). */
function isTypoOf(typed: string, word: string): boolean {
  const stem = (text: string): string => text.replace(/^--/, '').replace(/(in|out)$/, '');
  return stem(typed).at(0) === stem(word).at(0) && stem(typed) !== stem(word);
}

/** The command of `get keys`: other tools have the verb first. */
function inOrder(argv: readonly string[]): string[] {
  const [verb, thing] = argv.filter((word) => !word.startsWith('-'));
  const group = groups.find(({ name, alias }) => name === thing || alias === thing);
  const known = commandEntries.filter(({ path }) => path.startsWith(`${group?.name} `));
  return known
    .filter((entry) => entry.alias === verb || entry.path === `${group?.name} ${verb}`)
    .map(({ path }) => `lkm ${path}`);
}

/** `--json` takes no list of fields, as that of other tools does. */
function hintsForUsage({ code }: CommanderError, argv: readonly string[]): Hint[] {
  const fields = argv[argv.indexOf('--json') + 1];
  const isList = argv.includes('--json') && fields !== undefined && /^\w+(,\w+)*$/.test(fields);
  return code === 'commander.excessArguments' && isList ? [['Some fields:', `--json --fields ${fields}`]] : [];
}
