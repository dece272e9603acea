import { createHash, hash } from 'node:crypto';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../failure/errors.ts';
import { maskInLog } from '../output/github.ts';
import { type CommandResult, cellValue, type Field, plainText, rawCell } from '../output/result.ts';
import { type Note, sanitiseJson } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import type { BulkOperation } from './operation.ts';
import { errorField } from './options.ts';
import type { Layout } from './reading/raw-row.ts';
import type { ReadRows } from './reading/read-rows.ts';
import { type SentRow, stoppedNote } from './send-rows.ts';

interface Ending {
  readonly notes: readonly Note[];
  /** Called with the SHA-256 of the output before its file is renamed. */
  beforeFile(digest: string): void;
  /** Called after the output; `ids` belong to the rows that were done. */
  afterwards(isWhole: boolean, ids: readonly string[]): Promise<void>;
}

type Settled = Omit<SentRow, 'input' | 'body'>;

interface ResultRow extends Record<string, unknown> {
  readonly row: number;
  readonly line: number | null;
  readonly status: string;
  readonly input: readonly unknown[];
  readonly error?: SentRow['error'];
}

/**
 * The results of a run, identical at each repetition: for each row the columns of the input, then status, outcome and
 * error. CSV, TSV and JSON lines are written row by row; JSON and tables need all rows.
 */
export async function resultOf(
  operation: BulkOperation,
  { rows, layout, problems }: ReadRows,
  sent: AsyncIterable<SentRow>,
  context: CommandContext,
  ending: Ending,
): Promise<CommandResult> {
  const { settings, io } = context;
  const seen: Settled[] = [];
  const ids: string[] = [];
  const fields = fieldsOf(operation, layout);
  const chosen = settings.fields?.map((name) => fields.findLast((field) => field.name === name) ?? { name }) ?? null;
  const format = settings.quiet && settings.fileFormat === 'table' ? 'tsv' : settings.fileFormat;

  async function* settled(): AsyncGenerator<ResultRow> {
    for await (const row of sent) {
      const { input: _, body: __, ...rest } = row;
      seen.push(rest);
      const result = resultRow(operation, row, layout);
      if (row.error === null) {
        ids.push(idOf(result));
        if (settings.output === null) await maskInLog([idOf(result)], io);
      }
      yield result;
    }
  }

  const isWhole = () => seen.length === rows.length && seen.every(({ error }) => error === null);
  const ended = () => ({
    notes: [...warningsOf(seen), ...summary(operation, seen, rows.length), ...ending.notes],
    ...((!isWhole() || problems.skipped.size > 0) && { exitCode: exitCodes.partial }),
  });
  async function afterwards(): Promise<void> {
    // The reader has left.
    if (seen.length < rows.length) await context.say(stoppedNote(operation, ids.length, rows.length));
    await ending.afterwards(isWhole(), ids);
  }
  const common = { quiet: ids, secret: true, afterwards };

  if (format === 'json' || format === 'table') {
    const all = await Array.fromAsync(settled());
    const data = all.map((row) => dataOf(row, operation, layout));
    const beforeFile = async (text: string) => ending.beforeFile(hash('sha256', text));
    return { kind: 'rows', rows: all, data, fields, empty: '', ...common, ...ended(), beforeFile };
  }

  async function* texts(): AsyncGenerator<string> {
    const digest = createHash('sha256');
    for await (const text of linesOf(settled(), layout)) {
      digest.update(text);
      yield text;
    }
    ending.beforeFile(digest.digest('hex'));
  }

  async function* linesOf(all: AsyncIterable<ResultRow>, { delimiter, mark }: Layout) {
    const shown = chosen ?? fields;
    const isQuiet = settings.quiet && chosen === null;
    const { stringify } = await import('csv-stringify/sync');
    if (format === 'csv' && !isQuiet) yield mark + stringify([shown.map(({ name }) => name)], { delimiter });
    const lineOf = (row: ResultRow): string => {
      if (format === 'jsonl') {
        const data = chosen === null ? dataOf(row, operation, layout) : namedValues(chosen, row);
        return `${sanitiseJson(JSON.stringify(data))}\n`;
      }
      if (isQuiet) return row.error === undefined ? `${idOf(row)}\n` : '';
      if (format === 'tsv') return `${shown.map((field) => rawCell(field, row)).join('\t')}\n`;
      // Not protected against formulas: such a text stood in the given file.
      return stringify([shown.map((field) => plainText(cellValue(field, row)))], { delimiter });
    };
    for await (const row of all) yield lineOf(row);
  }

  return {
    kind: 'chunks',
    data: null,
    chunks: texts(),
    ...common,
    get notes() {
      return ended().notes;
    },
    get exitCode() {
      return ended().exitCode ?? exitCodes.ok;
    },
  };
}

const fieldsOf = ({ fields }: BulkOperation, { names }: Layout): readonly Field[] => [
  ...names.map((name, at): Field => ({ name, of: ({ input }) => (input as ResultRow['input'])[at], cuts: true })),
  { name: 'status' },
  ...fields,
  errorField,
];

const idOf = ({ key, id }: ResultRow): string => String(key ?? id ?? '');

function resultRow(
  operation: BulkOperation,
  { row, line, body, outcome, error, isUnknown, input }: SentRow,
  { names, isByPlace }: Layout,
): ResultRow {
  const byName = new Map(input);
  return {
    key: body.licenseKey,
    ...body,
    ...outcome,
    row,
    line,
    input: isByPlace ? input.map(([, value]) => value) : names.map((name) => byName.get(name)),
    status: outcome !== null ? (outcome.status ?? operation.done) : isUnknown ? 'unknown' : 'failed',
    ...(error !== null && { error }),
  };
}

const dataOf = (row: ResultRow, { fields }: BulkOperation, { names }: Layout) => {
  const { input, status, error } = row;
  const given = names.flatMap((name, at) => (input[at] === undefined ? [] : [[name, input[at]] as const]));
  const own = { status, ...namedValues(fields, row), error };
  // A name in both keeps its position in CSV.
  return Object.fromEntries([...given.filter(([name]) => !(name in own)), ...Object.entries(own)]);
};

const namedValues = (fields: readonly Field[], row: ResultRow) =>
  Object.fromEntries(fields.map((field) => [field.name, cellValue(field, row)]));

const SHOWN_WARNINGS = 10;

function warningsOf(sent: readonly Settled[]): Note[] {
  const texts = sent.flatMap(({ row, line, outcome }) =>
    outcome?.warning ? [`${line === null ? `row ${row}` : `line ${line}`}: ${outcome.warning}`] : [],
  );
  const shown = texts.slice(0, SHOWN_WARNINGS);
  if (texts.length > shown.length) shown.push(`and ${count(texts.length - shown.length, 'row')} more of that kind`);
  return shown.map((text) => ({ tone: 'warning', text }));
}

function summary({ done, noun }: BulkOperation, sent: readonly Settled[], total: number): Note[] {
  const unknown = sent.filter(({ isUnknown }) => isUnknown).length;
  const failed = sent.filter(({ error }) => error !== null).length - unknown;
  const old = sent.filter(({ outcome }) => outcome?.isOld).length;
  const parts = [
    `${done} ${sent.length - failed - unknown - old} of ${count(total, noun)}`,
    old > 0 && `${old} ${old === 1 ? 'was' : 'were'} ${done} before`,
    failed > 0 && `${failed} failed`,
    unknown > 0 && `${unknown} unknown`,
  ];
  const ways = [
    failed > 0 && 'the same command sends the failed rows again, and no other',
    unknown > 0 && `an unknown row may have been ${done}: look before you do it in another way`,
    old > 0 && old === total && `nothing was ${done} now; to do it all once more: --run NAME`,
  ];
  const hints = ways.filter((text) => text !== false).map((text): Note => ({ tone: 'hint', text }));
  return [{ tone: failed + unknown === 0 ? 'done' : 'warning', text: parts.filter(Boolean).join(' · ') }, ...hints];
}
