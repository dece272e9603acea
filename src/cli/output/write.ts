import type { Format, Settings } from '../config/settings.ts';
import { codeOf, type Hint, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { renderCsv, renderEnv, renderTsv } from './delimited.ts';
import type { Destination } from './destination.ts';
import { type CommandResult, cellValue, type Field, type View, type WholeResult } from './result.ts';
import type { TableText } from './table.ts';
import { createPaint, type Note, sanitise, sanitiseJson, talk } from './terminal.ts';

/** What the writer has to know beyond the result. */
export interface WriteContext {
  readonly settings: Settings;
  readonly io: Io;
  readonly fields: readonly Field[];
  readonly chosen: readonly Field[] | null;
  /** Where `-o` writes; null means stdout. */
  readonly destination: Destination | null;
  /** Lets go of the service before the pager waits for a person. */
  release(): Promise<void>;
  /** The command line that repeats the change. */
  rerun(idempotencyKey: string): string;
}

/**
 * Writes a result to stdout or a file, then its notes to stderr. Resolves to whether the result was taken: false when the
 * reader of stdout is gone. Throws `LocalError` when it cannot be written.
 */
export async function writeResult(result: CommandResult, context: WriteContext): Promise<boolean> {
  const { settings, io, destination } = context;
  if (result.kind === 'stream') return writeStream(result, context);
  if (result.kind === 'chunks') return writeChunks(result, context);
  const isDocument = result.kind === 'file' && destination !== null;
  const isIndented = isDocument || (destination === null && io.stdout.isTTY && result.afterwards === undefined);
  const { text, hidden } = await renderFor(result, context, isIndented);
  if (destination !== null) await writeTo(destination, isDocument ? result.content : text, result, context);
  const isPrinted = destination === null || (isDocument && settings.format.startsWith('json'));
  // A terminal would obey what is in a document; pipes and files get its exact content.
  const printable = result.kind === 'file' && io.stdout.isTTY ? visible(text) : text;
  const repeat = () => howToRepeat(result, context, 'where it can be written');
  const isTaken = !isPrinted || (await isPaged(result, printable, context)) || (await print(printable, io, repeat));
  await talk([...emptyNote(result), ...hiddenNote(hidden, result, context), ...(result.notes ?? [])], settings, io);
  return isTaken;
}

/** Whether the pager has shown the result. One that a change brought is printed: it has to stay to be read. */
async function isPaged(result: WholeResult, text: string, { settings, io, destination, release }: WriteContext) {
  const isLong =
    result.kind !== 'value' && result.kind !== 'done' && result.idempotencyKey === undefined && !result.isOfChanges;
  if (!isLong || !settings.paged || destination !== null) return false;
  const { showInPager } = await import('./pager.ts');
  return showInPager(text, io, release);
}

/** Writes a document part by part: no more than one is in memory. */
async function writeChunks(
  result: Extract<CommandResult, { kind: 'chunks' }>,
  { settings, io, destination }: WriteContext,
): Promise<boolean> {
  if (destination === null) {
    for await (const chunk of result.chunks) if (!(await print(chunk, io))) return false;
  } else {
    await destination.write(result.chunks, { secret: result.secret ?? false }).catch((error: unknown) => {
      // Others come from the service.
      throw error instanceof Error && 'syscall' in error ? unwritable(String(settings.output), error) : error;
    });
  }
  await talk(result.notes ?? [], settings, io);
  return true;
}

/** Writes objects as they come, a line for each: as JSON, or with tabs and without a header. */
async function writeStream(
  { stream }: Extract<CommandResult, { kind: 'stream' }>,
  context: WriteContext,
): Promise<boolean> {
  const { settings, io, chosen } = context;
  if (settings.output !== null) throw new UsageError('this command goes on until it is stopped: leave out -o');
  const format = settings.format.startsWith('json') ? 'jsonl' : 'tsv';
  for await (const rows of stream) {
    const part: WholeResult = { kind: 'rows', rows, data: rows, quiet: rows.map(({ id }) => String(id)), empty: '' };
    const { text } = await renderFor(
      part,
      { ...context, chosen, settings: { ...settings, fileFormat: format } },
      false,
    );
    if (!(await print(text, io))) return false;
  }
  return true;
}

/** Writes to stdout; resolves to whether it was taken. Throws `LocalError` when it cannot be written. */
export async function print(text: string, io: Io, repeat: () => Repeat = () => ({})): Promise<boolean> {
  if (text === '') return true;
  try {
    return await io.stdout.write(text);
  } catch (error) {
    throw unwritable('to stdout', error, repeat());
  }
}

/** The error for a result that cannot be written. */
export const unwritable = (where: string, cause: unknown, { hints = [], idempotencyKey }: Repeat = {}): LocalError =>
  new LocalError(`cannot write ${where} (${codeOf(cause)})`, hints, { cause, idempotencyKey });

export async function renderFor(
  result: WholeResult,
  context: Pick<WriteContext, 'settings' | 'io' | 'fields' | 'chosen'>,
  indented: boolean,
): Promise<TableText> {
  const { settings, io } = context;
  const own = result.kind === 'rows' ? result.fields : undefined;
  const fields = own ?? context.fields;
  // Rows with fields of their own are not what the command's fields are computed from.
  const chosen =
    (own && context.chosen?.map(({ name }) => own.find((field) => field.name === name) ?? { name })) ?? context.chosen;
  const paint = createPaint(settings.color.stdout && settings.output === null);
  const view = { columns: io.stdout.columns, now: io.now(), paint };
  const format = result.kind === 'file' ? settings.format : settings.fileFormat;
  return render(result, { format, fields, chosen, quiet: settings.quiet, indented, view });
}

/** A document on a terminal: its lines cannot control the terminal. */
const visible = (text: string): string => text.split('\n').map(sanitise).join('\n');

const emptyNote = (result: WholeResult): Note[] =>
  result.kind === 'rows' && result.rows.length === 0 ? [{ tone: 'hint', text: result.empty }] : [];

function hiddenNote(hidden: readonly Field[], result: WholeResult, { fields }: WriteContext): Note[] {
  if (hidden.length === 0) return [];
  const names = [...new Set(hidden.map(({ name }) => name))];
  const all = (result.kind === 'rows' && result.fields) || fields;
  const [first] = all.filter(({ drops, shown }) => drops === undefined && shown === undefined);
  const chosen = [...(first === undefined ? [] : [first.name]), ...names].join(',');
  // Tables below a record have fields that `--fields` does not know.
  const how = result.kind === 'rows' ? `--fields ${chosen}` : '--json';
  const shows = `${how} shows ${names.length === 1 ? 'it' : 'them'}`;
  return [{ tone: 'hint', text: `no room for ${names.join(', ')}; ${shows}` }];
}

async function writeTo(
  destination: Destination,
  text: string,
  result: WholeResult,
  context: WriteContext,
): Promise<void> {
  await result.beforeFile?.(text);
  try {
    await destination.write(text, { secret: result.secret ?? false });
  } catch (error) {
    throw unwritable(String(context.settings.output), error, howToRepeat(result, context, 'for another file'));
  }
}

/** How to get the response of a change that was made and could not be written; empty for a read. */
interface Repeat {
  readonly hints?: readonly Hint[];
  readonly idempotencyKey?: string;
}

function howToRepeat({ idempotencyKey }: CommandResult, { rerun }: WriteContext, whereTo: string): Repeat {
  if (idempotencyKey === undefined) return {};
  const hint = `The service did its part. This gets the same response again, ${whereTo}:`;
  return { hints: [hint, ['', rerun(idempotencyKey)]], idempotencyKey };
}

/** How a result is to be printed. */
export interface Rendering {
  readonly format: Format;
  /** All that the command declares. */
  readonly fields: readonly Field[];
  /** Those that `--fields` chose. */
  readonly chosen: readonly Field[] | null;
  readonly quiet: boolean;
  /** Whether JSON may take several lines. */
  readonly indented: boolean;
  readonly view: View;
}

/** The text of a result, for stdout or a file, and the columns it has no room for. */
export async function render(result: WholeResult, rendering: Rendering): Promise<TableText> {
  const { format, quiet } = rendering;
  if (format === 'json' || format === 'jsonl') return whole(renderJson(result, rendering));
  if (result.kind === 'file') return whole(withNewline(result.content));
  if (quiet && rendering.chosen === null) return whole(result.quiet.map((line) => `${sanitise(line)}\n`).join(''));
  const isText = rendering.chosen === null && (format === 'table' || format === 'tsv');
  if (result.kind === 'text' && (isText || !result.rows)) return whole(await result.draw(rendering.view));
  if (result.kind === 'done' && isText) return whole('');
  if (result.kind === 'value' && isText) return whole(`${sanitise(result.value)}\n`);
  return renderFields(result, quiet && format === 'table' ? { ...rendering, format: 'tsv' } : rendering);
}

const whole = (text: string): TableText => ({ text, hidden: [] });

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

type Fielded = Extract<WholeResult, { kind: 'value' | 'record' | 'rows' | 'text' | 'done' }>;

async function renderFields(result: Fielded, { format, fields, chosen, view }: Rendering): Promise<TableText> {
  const medium = format === 'table' ? 'table' : 'data';
  const shown = chosen ?? fields.filter(({ shown }) => shown === undefined || shown === medium);
  const rows = rowsOf(result);
  if (format === 'tsv') return whole(renderTsv(shown, rows));
  if (format === 'csv') return whole(await renderCsv(shown, rows));
  if (format === 'env') return whole(renderEnv(shown, rows));
  if (rows.length === 0) return whole('');
  const draw = chosen === null && 'draw' in result ? result.draw : undefined;
  if (draw !== undefined) return whole(await draw(view));
  // Loaded late: most commands print one value, and counting columns takes a while to load.
  const { renderRecord, renderTable } = await import('./table.ts');
  // What was asked for by name is not left out.
  const kept = chosen === null ? shown : shown.map(({ drops: _, ...field }) => field);
  if (result.kind === 'rows') return renderTable(kept, rows, view);
  const record = rows.map((row) => renderRecord(shown, row, view)).join('');
  const parts = chosen === null && result.kind === 'record' ? (result.parts ?? []) : [];
  const tables = parts.filter(({ rows }) => rows.length > 0).map((part) => renderTable(part.fields, part.rows, view));
  return {
    text: [record, ...tables.map(({ text }) => text)].join('\n'),
    hidden: tables.flatMap(({ hidden }) => hidden),
  };
}

function rowsOf(result: Fielded): readonly Record<string, unknown>[] {
  if (result.kind === 'rows' || result.kind === 'text') return result.rows ?? [];
  const rows = result.kind === 'record' ? result.row : result.data;
  return (Array.isArray(rows) ? rows : [rows]).filter(isRow);
}

function renderJson(result: WholeResult, { format, chosen, indented }: Rendering): string {
  const data = chosen ? pick(result, chosen) : result.data;
  const lines = format === 'jsonl' && Array.isArray(data) ? data : [data];
  const indent = format === 'json' && indented ? 2 : undefined;
  return lines.map((line) => `${sanitiseJson(JSON.stringify(line ?? {}, null, indent))}\n`).join('');
}

/** A flat object of the chosen fields, or one for each row. */
function pick(result: WholeResult, chosen: readonly Field[]): unknown {
  const picked = (row: unknown) =>
    Object.fromEntries(chosen.map((field) => [field.name, isRow(row) ? cellValue(field, row) : null]));
  const data = result.kind === 'record' ? result.row : result.kind === 'rows' ? result.rows : result.data;
  return Array.isArray(data) ? data.map(picked) : picked(data);
}

const isRow = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
