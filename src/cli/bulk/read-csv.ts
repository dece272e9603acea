import { unguard } from './guarded-cells.ts';
import type { Problem } from './problems.ts';
import type { RawRow, RawRows } from './read-source.ts';

/** Reads RFC 4180 with a header. The delimiter is the one that the header has most of, unless given. */
export async function readCsv(text: string, given: string | undefined): Promise<RawRows> {
  const { parse } = await import('csv-parse/sync');
  const problems: Problem[] = [];
  const records: { readonly values: readonly string[]; readonly line: number }[] = [];
  parse(text, {
    delimiter: given ?? guessDelimiter(text),
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record: (record: string[], { lines }) => {
      records.push({ values: record, line: lines - breaksIn(record) });
      return null;
    },
    on_skip: (error) => {
      if (error !== undefined) problems.push({ line: lineOf(error), text: withoutLine(error.message) });
    },
  });
  const [header, ...rows] = records.filter(({ values }) => values.some((value) => value.trim() !== ''));
  if (header === undefined) return { rows: [], problems };
  const names = header.values.map((name) => name.trim());
  for (const { values, line } of rows) {
    if (values.length === names.length) continue;
    problems.push({ line, text: `has ${values.length} cells; the header has ${names.length}` });
  }
  return { rows: rows.map(({ values, line }) => rowOf(names, values, line)), problems };
}

/** Line breaks inside of cells: a record is reported with the line that it ends on. */
const breaksIn = (record: readonly string[]): number =>
  record.reduce((sum, value) => sum + (value.match(/\r\n|\r|\n/g)?.length ?? 0), 0);

const rowOf = (names: readonly string[], values: readonly string[], line: number): RawRow => ({
  line,
  cells: names.map((name, at) => [name, unguard(values[at] ?? '')]),
});

function guessDelimiter(text: string): string {
  const header = (/^.*$/m.exec(text.trimStart())?.[0] ?? '').replaceAll(/"[^"]*"/g, '');
  const counted = [',', ';', '\t', '|'].map((one) => ({ one, times: header.split(one).length - 1 }));
  return counted.reduce((most, next) => (next.times > most.times ? next : most)).one;
}

const lineOf = (error: object): number | null =>
  'lines' in error && typeof error.lines === 'number' ? error.lines : null;

const withoutLine = (message: string): string => message.replace(/ (at|on) line \d+.*$/, '');
