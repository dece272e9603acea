import { withoutBrackets } from './brackets.ts';

export type Row = readonly [term: string, meaning: string];

const COLUMNS = 80;
const LONGEST_TERM = 44;

/** A title, and below it terms with their meanings, aligned and within 80 columns. */
export const section = (title: string, pairs: readonly Row[]): string => `${title}\n${rows(pairs)}`;

/** Terms with their meanings, aligned. */
export function rows(pairs: readonly Row[]): string {
  const width = Math.min(LONGEST_TERM, Math.max(...pairs.map(([term]) => term.length)));
  const indent = ' '.repeat(width + 4);
  return pairs
    .map(([term, meaning]) => {
      const lines = wrap(meaning, COLUMNS - indent.length).join(`\n${indent}`);
      return `  ${term.padEnd(width)}  ${lines}\n`;
    })
    .join('');
}

/** An option, long ones below one another. */
export const optionRow = ({ flags, describe }: { flags: string; describe: string }): Row => [
  flags.startsWith('--') ? `    ${withoutBrackets(flags)}` : withoutBrackets(flags),
  describe,
];

/** Breaks a text between words. */
export function wrap(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
