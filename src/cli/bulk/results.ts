import type { Settings } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../failure/errors.ts';
import { maskInLog } from '../output/github.ts';
import { type CommandResult, cellValue, fieldsNamed, plainText, rawCell } from '../output/result.ts';
import { sanitiseJson } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import type { BulkOperation } from './operation.ts';
import type { Layout } from './reading/raw-row.ts';
import { dataOf, fieldsOf, idOf, namedValues, type ResultRow, resultRow } from './result-rows.ts';
import { type BulkRun, type SentRow, stoppedNote } from './send-rows.ts';
import { summaryOf } from './summary.ts';

/**
 * The results of a run, identical at each repetition. CSV, TSV and JSON lines are written row by row; JSON and tables need
 * all rows.
 */
export async function resultOf(
  context: CommandContext,
  { operation, request, read, marker }: BulkRun,
  sent: AsyncIterable<SentRow>,
): Promise<CommandResult> {
  const { settings, io } = context;
  const { rows, layout, problems } = read;
  const seen: SentRow[] = [];
  const ids: string[] = [];

  async function* results(): AsyncGenerator<ResultRow> {
    for await (const row of sent) {
      const result = resultRow(operation, row, layout);
      seen.push(row);
      if (row.error === null) {
        ids.push(idOf(result));
        if (settings.output === null) await maskInLog([idOf(result)], io);
      }
      yield result;
    }
  }

  const isWhole = () => seen.length === rows.length && seen.every(({ error }) => error === null);
  const notes = () => [
    ...summaryOf(operation, seen, rows.length),
    ...(request.notesOn?.(rows.map(({ body }) => body)) ?? []),
  ];
  const exitCode = () => (isWhole() && problems.skipped.size === 0 ? exitCodes.ok : exitCodes.partial);
  async function afterwards(): Promise<void> {
    // The reader has left before the first row: nothing was sent.
    if (seen.length === 0) await context.say(stoppedNote(operation, 0, rows.length));
    if (isWhole()) marker.end();
    await request.whenWritten?.(ids);
  }
  const beforeFile = (digest: string) => marker.keepOutput(settings, digest);
  const common = { quiet: ids, secret: true, beforeFile, afterwards };
  if (settings.fileFormat === 'json' || (settings.fileFormat === 'table' && !settings.quiet)) {
    const all = await Array.fromAsync(results());
    const data = all.map((row) => dataOf(row, operation, layout));
    const fields = fieldsOf(operation, layout);
    const repeatHint = `${operation.done} ${count(ids.length, operation.noun)}: the same command writes the same results`;
    const ended = { notes: notes(), exitCode: exitCode(), repeatHint };
    return { kind: 'rows', rows: all, data, fields, empty: '', ...common, ...ended };
  }
  return {
    kind: 'chunks',
    data: null,
    chunks: linesOf(results(), operation, layout, settings),
    ...common,
    // Known once all rows are written.
    get notes() {
      return notes();
    },
    get exitCode() {
      return exitCode();
    },
  };
}

/** The results as lines of CSV, TSV or JSON; with `-q`, the key or id of each row that was done. */
async function* linesOf(
  results: AsyncIterable<ResultRow>,
  operation: BulkOperation,
  layout: Layout,
  { fileFormat, fields: names, quiet }: Settings,
): AsyncGenerator<string> {
  const { stringify } = await import('csv-stringify/sync');
  const { delimiter, mark } = layout;
  const all = fieldsOf(operation, layout);
  const chosen = names && fieldsNamed(names, all);
  const shown = chosen ?? all;
  const isQuiet = quiet && chosen === null;
  if (fileFormat === 'csv' && !isQuiet) yield mark + stringify([shown.map(({ name }) => name)], { delimiter });

  function lineOf(row: ResultRow): string {
    if (fileFormat === 'jsonl') {
      const data = chosen === null ? dataOf(row, operation, layout) : namedValues(chosen, row);
      return `${sanitiseJson(JSON.stringify(data))}\n`;
    }
    if (isQuiet) return row.error === undefined ? `${idOf(row)}\n` : '';
    // Not protected against formulas: such a text stood in the given file.
    if (fileFormat === 'csv') return stringify([shown.map((field) => plainText(cellValue(field, row)))], { delimiter });
    return `${shown.map((field) => rawCell(field, row)).join('\t')}\n`;
  }
  for await (const row of results) yield lineOf(row);
}
