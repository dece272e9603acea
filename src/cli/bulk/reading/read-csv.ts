import type { RawRow, RawRows } from './columns.ts';
import type { Problem } from './problems.ts';

/** What may stand between the cells of a file. */
export const delimiters = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;

export type Delimiter = keyof typeof delimiters;

export const delimiterNames = ['comma', 'semicolon', 'tab', 'pipe'] as const satisfies readonly Delimiter[];

/** Reads RFC 4180 with a header. */
export async function* readCsv(texts: AsyncIterable<string>, delimiter: string): RawRows {
  const { parse } = await import('csv-parse');
  const { pipeline, Readable } = await import('node:stream');
  const skipped: Problem[] = [];
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error !== undefined) skipped.push({ line: lineOf(error), text: withoutLine(error.message) });
      return undefined;
    },
  });
  // An error of the text ends the parser with it.
  pipeline(Readable.from(texts), parser, () => {});
  const records: AsyncIterable<Parsed> = parser;
  let names: readonly string[] | null = null;
  for await (const { record, info } of records) {
    yield* skipped.splice(0);
    if (record.every((value) => value.trim() === '')) continue;
    const line = info.lines - breaksIn(record);
    if (names === null) {
      names = record.map((name) => name.trim());
      continue;
    }
    if (record.length !== names.length) {
      yield { line, text: `has ${record.length} cells; the header has ${names.length}` };
    }
    yield rowOf(names, record, line);
  }
  yield* skipped;
}

interface Parsed {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** Line breaks inside of cells: a record is reported with the line that it ends on. */
const breaksIn = (record: readonly string[]): number =>
  record.reduce((sum, value) => sum + (value.match(/\r\n|\r|\n/g)?.length ?? 0), 0);

const rowOf = (names: readonly string[], values: readonly string[], line: number): RawRow => ({
  line,
  cells: names.map((name, at) => [name, unguard(values[at] ?? '')]),
});

const lineOf = (error: object): number | null =>
  'lines' in error && typeof error.lines === 'number' ? error.lines : null;

const withoutLine = (message: string): string => message.replace(/ (at|on) line \d+.*$/, '');

/** The delimiter that a header has most of. */
export function guessDelimiter(text: string): string {
  const header = (/^.*$/m.exec(text.trimStart())?.[0] ?? '').replaceAll(/"[^"]*"/g, '');
  const counted = Object.values(delimiters).map((one) => ({ one, times: header.split(one).length - 1 }));
  return counted.reduce((most, next) => (next.times > most.times ? next : most)).one;
}

/*
 * A spreadsheet runs a cell that begins like a formula. An apostrophe before it makes it text there, as OWASP advises
 * ("CSV Injection"); reading takes it away again, so that every text comes back as it was.
 */
const formula = /^['=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** A text as a cell that no spreadsheet runs. */
export const guard = (text: string): string => (formula.test(text) ? `'${text}` : text);

const unguard = (cell: string): string => (cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell);
