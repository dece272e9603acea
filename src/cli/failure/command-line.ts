import type { CommanderError } from 'commander';
import { serviceOptionFor } from '../config/location.ts';
import { withoutBrackets } from '../help/section.ts';
import { quote } from '../output/words.ts';
import { type Hint, UsageError } from './errors.ts';
import { commandsMeant, optionsMeant } from './meant.ts';

/** What was understood of a command line before the error. */
interface Understood {
  /** The words of the command: `lkm keys`. */
  readonly path: string;
  /** Its options: `--expires`. */
  readonly options: readonly string[];
  /** Those of them that it cannot do without. */
  readonly required: readonly string[];
}

/** The error for a command line that commander does not take, with what may have been meant. */
export function explainCommandLine(error: CommanderError, understood: Understood, argv: readonly string[]): UsageError {
  // Commander's suggestion has a line of its own; here it is part of the message.
  const [, what = error.message, near = ''] =
    /^(?:error: )?(.*?)(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/s.exec(error.message) ?? [];
  const message = withoutBrackets(what);
  const typed = /'([^']*)'/.exec(what)?.[1] ?? '';
  const likely = likelyFor(error, typed, understood, argv);
  const typos = near.split(', ').filter((word) => word !== '' && isTypoOf(typed, word));
  const meant = likely.length > 0 ? likely : typos;
  const question = meant.length > 0 ? `. Did you mean ${meant.join(' or ')}?` : '';
  const hints = [...hintsForUsage(error, what, understood, argv), ['See:', `${understood.path} --help`] as const];
  return new UsageError(`${message}${question}`, hints, { cause: error });
}

function likelyFor(
  { code }: CommanderError,
  typed: string,
  { path, options }: Understood,
  argv: readonly string[],
): readonly string[] {
  if (code === 'commander.unknownCommand') return commandsMeant(typed, path, argv);
  return code === 'commander.unknownOption' && typed.startsWith('--') ? optionsMeant(typed, options) : [];
}

/** Whether the word may have been meant: it begins in the same way, and is not the opposite (checkin, checkout). */
function isTypoOf(typed: string, word: string): boolean {
  const stem = (text: string): string => text.replace(/^--/, '').replace(/(in|out)$/, '');
  return stem(typed).at(0) === stem(word).at(0) && stem(typed) !== stem(word);
}

function hintsForUsage(
  { code }: CommanderError,
  message: string,
  { options, required }: Understood,
  argv: readonly string[],
): Hint[] {
  if (code !== 'commander.excessArguments') return [];
  // `--json` takes no list of fields, as that of other tools does.
  const fields = argv[argv.indexOf('--json') + 1];
  const isList = argv.includes('--json') && fields !== undefined && /^\w+(,\w+)*$/.test(fields);
  if (isList) return [['Some fields:', `--json --fields ${fields}`]];
  // `customers create "Ada Ltd"`: what is too much may be meant for an option.
  const [, expected, given, words = ''] = /Expected (\d+) arguments? but got (\d+): (.*)\.$/s.exec(message) ?? [];
  if (Number(given) - Number(expected) !== 1) return [];
  const word = words.split(', ').slice(Number(expected)).join(', ');
  const missing = required.filter((option) => !argv.some((one) => one.split('=')[0] === option));
  const isFile = options.includes('--file') && /\.(csv|tsv|jsonl?|txt)$/i.test(word);
  const option = isFile ? '-f' : (serviceOptionFor(word) ?? (missing.length === 1 ? missing[0] : undefined));
  return option === undefined ? [] : [['Perhaps:', `${option} ${quote(word)}`]];
}
