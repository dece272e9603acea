import { isBulk } from '../bulk/options.ts';
import type { ParsedCommand, Written } from '../command.ts';
import { hasPassword, withoutPassword } from '../config/location.ts';
import { quote } from '../output/words.ts';
import type { RunState } from '../run-state.ts';
import { withoutSecretFields } from './without-secrets.ts';

/** The command line that repeats a change with its idempotency key or with another option, quoted for a shell. */
export function rerunLine(
  { argv, io, parsed, context }: RunState,
  value: string,
  option = '--idempotency-key',
): string {
  if (parsed === undefined) return '';
  const showsSecrets = io.stderr.isTTY;
  const hidden = new Set(showsSecrets ? [] : secretTexts(parsed));
  const typed = [...argv, ...(context?.foundWords ?? [])];
  const { words, db } = withoutSecretDatabase(withoutOption(typed, option).words);
  const shown = words.map((word) =>
    hidden.has(word) ? 'KEY' : quote(showsSecrets ? word : withoutSecretFields(word)),
  );
  return [
    ...(db === undefined ? [] : [`LKM_DB='${withoutPassword(db).replace('@', ':***@')}'`]),
    'lkm',
    ...shown,
    // An idempotency key stands for one request; a command with several finds their keys in its files.
    ...(makesSeveral(parsed.written) ? [] : [option, quote(value)]),
  ].join(' ');
}

/** Texts of secret arguments, except `-` and `@FILE`. */
function secretTexts({ command, written }: ParsedCommand): string[] {
  return Object.entries(command.arguments)
    .filter(([, spec]) => spec.secret)
    .flatMap(([name]) => written.arguments[name] ?? [])
    .filter((text) => text !== '-' && !text.startsWith('@'));
}

const makesSeveral = (written: Written): boolean =>
  isBulk(written.options) ||
  Object.values(written.arguments).some((texts) => typeof texts === 'object' && texts.length > 1);

/** An address with a password belongs in the environment: other users can read a command line. */
function withoutSecretDatabase(argv: readonly string[]): { words: readonly string[]; db?: string } {
  const { words, value } = withoutOption(argv, '--db');
  return value !== undefined && hasPassword(value) ? { words, db: value } : { words: argv };
}

function withoutOption(argv: readonly string[], name: string): { words: string[]; value?: string | undefined } {
  const words: string[] = [];
  let value: string | undefined;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === name) value = argv[++at];
    else if (word.startsWith(`${name}=`)) value = word.slice(name.length + 1);
    else words.push(word);
  }
  return { words, value };
}
