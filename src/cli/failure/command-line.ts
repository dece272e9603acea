import type { CommanderError } from 'commander';
import { hasKeyShape } from '../../domain/license-key.ts';
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
  /** The words that are more than its arguments. */
  surplus(): readonly string[];
  /** Whether one of its arguments is a secret. */
  readonly takesSecret: boolean;
}

/** The error for a command line that commander does not take, with what may have been meant. */
export function explainCommandLine(error: CommanderError, understood: Understood, argv: readonly string[]): UsageError {
  const isSurplus = error.code === 'commander.excessArguments';
  const { message, hints } = isSurplus ? explainSurplus(understood, argv) : explainUnknown(error, understood, argv);
  return new UsageError(message, [...hints, ['See:', `${understood.path} --help`]], { cause: error });
}

interface Explanation {
  readonly message: string;
  readonly hints: readonly Hint[];
}

function explainUnknown(error: CommanderError, understood: Understood, argv: readonly string[]): Explanation {
  // Commander's suggestion has a line of its own; here it is part of the message.
  const [, what = error.message, near = ''] =
    /^(?:error: )?(.*?)(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/s.exec(error.message) ?? [];
  const message = withoutBrackets(what);
  const typed = /'([^']*)'/.exec(what)?.[1] ?? '';
  const likely = likelyFor(error, typed, understood, argv);
  const typos = near.split(', ').filter((word) => word !== '' && isTypoOf(typed, word));
  const meant = likely.length > 0 ? likely : typos;
  return { message: meant.length > 0 ? `${message}. Did you mean ${meant.join(' or ')}?` : message, hints: [] };
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

function explainSurplus(understood: Understood, argv: readonly string[]): Explanation {
  const surplus = understood.surplus();
  const isSecret = (word: string): boolean =>
    hasKeyShape(word) || (understood.takesSecret && word.length >= MIN_KEY_LENGTH);
  const shown = surplus.map((word) => `'${isSecret(word) ? `…${word.slice(-5)}` : word}'`);
  const message = `unexpected argument${surplus.length === 1 ? '' : 's'} ${shown.join(', ')}`;
  // `--json` takes no list of fields, as that of other tools does.
  const fields = argv[argv.indexOf('--json') + 1];
  const isList = argv.includes('--json') && fields !== undefined && /^\w+(,\w+)*$/.test(fields);
  if (isList) return { message, hints: [['Some fields:', `--json --fields ${fields}`]] };
  const [word = '', ...more] = surplus;
  const option = more.length > 0 || isSecret(word) ? undefined : optionFor(word, understood, argv);
  return { message, hints: option === undefined ? [] : [['Perhaps:', `${option} ${quote(word)}`]] };
}

/** The shortest licence key there is. Source: API description, "Limits". */
const MIN_KEY_LENGTH = 23;

/** The option that a word too many may be meant for: `customers create "Ada Ltd"`. */
function optionFor(word: string, { options, required }: Understood, argv: readonly string[]): string | undefined {
  if (options.includes('--file') && /\.(csv|tsv|jsonl?|txt)$/i.test(word)) return '-f';
  const missing = required.filter((option) => !argv.some((one) => one.split('=')[0] === option));
  return serviceOptionFor(word) ?? (missing.length === 1 ? missing[0] : undefined);
}
