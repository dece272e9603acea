import type { Io } from '../io.ts';
import { createPaint, type Paint, plain, takesColor } from '../output/terminal.ts';
import { wrap } from '../output/words.ts';

export interface HelpView {
  readonly columns: number;
  readonly paint: Paint;
}

/** For a pipe. */
export const plainHelp: HelpView = { columns: 80, paint: plain };

const MIN_COLUMNS = 40;
/** Longer lines are hard to read. */
const MAX_COLUMNS = 100;

/** For stdout. Searches the words for colour options, since help is shown before options are parsed. */
export function helpView(argv: readonly string[], { env, stdout }: Pick<Io, 'env' | 'stdout'>): HelpView {
  const words = argv.join(' ');
  const isOff = /(^| )--(no-color|color[ =]never)( |$)/.test(words);
  const isOn = !isOff && (/(^| )--color[ =]always( |$)/.test(words) || takesColor(env, stdout));
  const columns = Math.max(MIN_COLUMNS, Math.min(stdout.columns, MAX_COLUMNS));
  return { columns, paint: createPaint(isOn) };
}

export type Row = readonly [term: string, meaning: string];

const MAX_TERM_WIDTH = 44;

/** `<ID>` → `ID`. Square brackets of optional words stay. */
export const withoutBrackets = (text: string): string => text.replaceAll(/[<>]/g, '');

export const section = (title: string, pairs: readonly Row[], view: HelpView): string =>
  `${heading(title, view)}${rows(pairs, view)}`;

export const heading = (title: string, { paint }: HelpView): string => `${paint.bold(title)}\n`;

/** Terms and meanings in two columns. */
export function rows(pairs: readonly Row[], { columns, paint }: HelpView): string {
  const longest = Math.max(0, ...pairs.map(([term]) => term.length));
  const width = Math.min(longest, MAX_TERM_WIDTH, Math.floor(columns / 2));
  const indent = ' '.repeat(width + 4);
  return pairs
    .map(([term, meaning]) => {
      const lines = wrap(meaning, columns - indent.length).join(`\n${indent}`);
      const gap = term.length > width ? `\n${indent}` : ' '.repeat(width - term.length + 2);
      return `  ${paint.cyan(term)}${gap}${lines}\n`;
    })
    .join('');
}

/** Options without a short form are indented, so that long forms are aligned. */
export const optionRow = ({ usage, describe }: { usage: string; describe: string }): Row => [
  usage.startsWith('--') ? `    ${withoutBrackets(usage)}` : withoutBrackets(usage),
  describe,
];

/** Wraps a paragraph. Text that begins with two spaces keeps its lines. */
export function prose(text: string, { columns }: Pick<HelpView, 'columns'>, indent = ''): string {
  const lines = text.startsWith('  ') ? text.split('\n') : wrap(text, columns - indent.length);
  return lines.map((line) => `${indent}${line}\n`).join('');
}

/** Paragraphs and rows of a topic under a heading; the heading of an introduction is empty. */
export type Section = readonly [title: string, ...blocks: readonly (string | readonly Row[])[]];

export function sectionText([title, ...blocks]: Section, view: HelpView): string {
  const indent = title === '' ? '' : '  ';
  const texts = blocks.map((block) => (typeof block === 'string' ? prose(block, view, indent) : rows(block, view)));
  return (title && heading(title, view)) + texts.join('\n');
}
