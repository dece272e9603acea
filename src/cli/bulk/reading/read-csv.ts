import { pipeline, Readable } from 'node:stream';
import { readCell } from '../../values/spreadsheet.ts';
import { trimmed } from '../../values/text.ts';
import type { Form, RawRow, Report } from './raw-row.ts';

/** In order of preference: a comma may also be part of a number or a name. */
export const delimiters = { tab: '\t', semicolon: ';', pipe: '|', comma: ',' } as const;

/** The delimiter that most rows have as often as the header; otherwise the most frequent one in the header. */
export function guessDelimiter(text: string): string {
  const lines = text.replaceAll(/"[^"]*"/g, 'x').split(/[\r\n]+/);
  const [header = '', ...rows] = lines.filter((line) => line.trim() !== '').slice(0, 20);
  const timesIn = (line: string, one: string) => line.split(one).length - 1;
  const fitOf = (one: string) => {
    const times = timesIn(header, one);
    return times === 0 ? 0 : 1_000 * rows.filter((row) => timesIn(row, one) === times).length + Math.min(times, 999);
  };
  const best = Object.values(delimiters).reduce((most, next) => (fitOf(next) > fitOf(most) ? next : most));
  return fitOf(best) === 0 ? ',' : best;
}

/** Reads RFC 4180 with a header and any line ends. The text begins in line `firstLine` of the file. */
export async function* readCsv(
  texts: AsyncIterable<string>,
  form: Form,
  firstLine: number,
  report: Report,
): AsyncGenerator<RawRow> {
  const { parse } = await import('csv-parse');
  /** Corrects the parser's line numbers: it counts a line break of two characters inside a cell as two lines. */
  let shift = 1 - firstLine;
  let lastLine = firstLine - 1;
  /** After some errors, the parser leaves out a part of the text. */
  let isLost = false;
  const parser = parse({
    delimiter: form.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    trim: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record(cells: string[], { lines }) {
      const breaks = cells.join(' ').match(/\r\n|\r|\n/g) ?? [];
      shift += breaks.filter((one) => one.length === 2).length;
      lastLine = lines - shift;
      return isLost ? null : [String(lastLine - breaks.length), ...cells];
    },
    on_skip(error) {
      if (!error || isLost) return undefined;
      isLost = error.code === 'CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE';
      const line =
        error.code === 'CSV_QUOTE_NOT_CLOSED' ? lastLine + 1 : Number('lines' in error && error.lines) - shift;
      report(line, error.message.replace(/ (at|on) line \d+.*$/, ''));
      return undefined;
    },
  });
  // An error of the text ends the parser with it.
  pipeline(Readable.from(texts), parser, () => {});
  let header: readonly string[] | undefined;
  for await (const [place, ...cells] of parser as AsyncIterable<readonly string[]>) {
    const line = Number(place);
    if (cells.every((value) => trimmed(value) === '')) continue;
    if (header === undefined) {
      header = cells;
      form.names.push(...cells);
      form.isByPlace = true;
      continue;
    }
    if (cells.length !== header.length) report(line, `has ${cells.length} cells; the header has ${header.length}`);
    const written = header.map((name, at) => [name, cells[at] ?? ''] as const);
    yield { line, cells: written.map(([name, cell]) => [trimmed(name), readCell(cell)] as const), written };
  }
}
