import type { Command } from './command.ts';
import type { Written } from './program.ts';

/** The command line that repeats a change under its idempotency key, ready to paste into a shell. */
export function rerunLine(
  argv: readonly string[],
  idempotencyKey: string,
  { command, written, showsSecrets }: { command: Command; written: Written; showsSecrets: boolean },
): string {
  const hidden = new Set(showsSecrets ? [] : secretTexts(command, written));
  const words = withoutKey(argv).map((word) => (hidden.has(word) ? 'KEY' : quote(word)));
  return ['lkm', ...words, '--idempotency-key', quote(idempotencyKey)].join(' ');
}

/** Texts of secret arguments; `-` and `@FILE` only say where the secret is. */
function secretTexts(command: Command, written: Written): string[] {
  return Object.entries(command.arguments)
    .filter(([, spec]) => spec.secret)
    .flatMap(([name]) => written.arguments[name] ?? [])
    .filter((text) => text !== '-' && !text.startsWith('@'));
}

function withoutKey(argv: readonly string[]): string[] {
  return argv.filter(
    (word, at) =>
      word !== '--idempotency-key' && !word.startsWith('--idempotency-key=') && argv[at - 1] !== '--idempotency-key',
  );
}

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
