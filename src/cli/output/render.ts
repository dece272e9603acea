import type { Settings } from '../config/settings.ts';
import type { Format } from '../global-options.ts';
import type { Io } from '../io.ts';
import { cellValue, type Field, fieldsNamed, rawCell, type View, type WholeResult } from './result.ts';
import { createPaint, sanitise, sanitiseJson } from './terminal.ts';

type Row = Record<string, unknown>;

export interface RenderContext {
  readonly settings: Settings;
  readonly io: Io;
  readonly fields: readonly Field[];
  readonly chosen: readonly Field[] | null;
}

interface Layout {
  readonly isIndented?: boolean;
  /** Whether csv has a header; not in a later part. */
  readonly hasHeader?: boolean;
  /** Receives the names of columns that do not fit into a table. */
  readonly hidden?: Set<string>;
}

export async function renderResult(result: WholeResult, context: RenderContext, layout?: Layout): Promise<string> {
  const { settings } = context;
  const own = result.kind === 'rows' ? result.fields : undefined;
  const fields = own ?? context.fields;
  // The fields of the command are not computed from rows with fields of their own.
  const names = context.chosen?.map(({ name }) => name);
  const chosen = own && names ? fieldsNamed(names, own) : context.chosen;
  const format = result.kind === 'file' ? settings.format : settings.fileFormat;
  const { quiet, hasNamedLines } = settings;
  return render(result, { format, fields, chosen, quiet, hasNamedLines, view: viewOf(context), ...layout });
}

export const viewOf = ({ settings, io }: RenderContext): View => ({
  columns: io.stdout.columns,
  now: io.now(),
  paint: createPaint(settings.color.stdout && settings.output === null),
});

interface Rendering extends Layout, Pick<RenderContext, 'fields' | 'chosen'> {
  readonly format: Format;
  readonly quiet: boolean;
  readonly hasNamedLines: boolean;
  readonly view: View;
}

async function render(result: WholeResult, rendering: Rendering): Promise<string> {
  const { format, chosen, quiet, view } = rendering;
  if (format === 'json' || format === 'jsonl') return renderJson(result, rendering);
  if (result.kind === 'file') return result.content.replace(/\n?$/, '\n');
  if (quiet && chosen === null) return result.quiet.map((line) => `${sanitise(line)}\n`).join('');
  if (result.kind === 'text' && !result.rows) return await result.draw(view);
  const text = chosen === null && format !== 'csv' ? await textOf(result, view) : null;
  return text ?? renderFields(result, quiet && format === 'table' ? { ...rendering, format: 'tsv' } : rendering);
}

/** The text of a result that is more than its fields; null for other results. */
async function textOf(result: Fielded, view: View): Promise<string | null> {
  switch (result.kind) {
    case 'text':
      return await result.draw(view);
    case 'done':
      return '';
    case 'value':
      return `${sanitise(result.value)}\n`;
    default:
      return null;
  }
}

type Fielded = Extract<WholeResult, { kind: 'value' | 'record' | 'rows' | 'text' | 'done' }>;

async function renderFields(result: Fielded, rendering: Rendering): Promise<string> {
  const { format, fields, chosen, view, hidden } = rendering;
  const medium = format === 'table' ? 'table' : 'data';
  const shown = chosen ?? fields.filter(({ shown }) => shown === undefined || shown === medium);
  const rows = rowsOf(result);
  if (format === 'tsv' && result.kind === 'record' && rendering.hasNamedLines && chosen === null) {
    return rows.flatMap((row) => shown.map((field) => `${field.name}\t${rawCell(field, row)}\n`)).join('');
  }
  if (format === 'tsv') return renderTsv(shown, rows);
  if (format === 'csv') return await renderCsv(shown, rows, rendering);
  if (rows.length === 0) return '';
  const draw = chosen === null && 'draw' in result ? result.draw : undefined;
  if (draw !== undefined) return await draw(view);
  // Loaded late: most commands print one value.
  const { renderRecord, renderTable } = await import('./table.ts');
  // Fields of `--fields` are not left out.
  const kept = chosen === null ? shown : shown.map(({ drops: _, ...field }) => field);
  if (result.kind === 'rows') return renderTable(kept, rows, view, hidden);
  const record = rows.map((row) => renderRecord(shown, row, view, chosen !== null)).join('');
  const parts = chosen === null && result.kind === 'record' ? (result.parts ?? []) : [];
  const tables = parts.filter(({ rows }) => rows.length > 0);
  return [record, ...tables.map((part) => renderTable(part.fields, part.rows, view, hidden))].join('\n');
}

function rowsOf(result: Fielded): readonly Row[] {
  if (result.kind === 'rows' || result.kind === 'text') return result.rows ?? [];
  const rows = result.kind === 'record' ? result.row : result.data;
  return (Array.isArray(rows) ? rows : [rows]).filter(isRow);
}

function renderJson(result: WholeResult, { format, chosen, isIndented }: Rendering): string {
  const data = chosen ? pick(result, chosen) : result.data;
  const lines = format === 'jsonl' && Array.isArray(data) ? data : [data];
  const indent = format === 'json' && isIndented ? 2 : undefined;
  return lines.map((line) => `${sanitiseJson(JSON.stringify(line ?? {}, null, indent))}\n`).join('');
}

function pick(result: WholeResult, chosen: readonly Field[]): unknown {
  const picked = (row: unknown) =>
    Object.fromEntries(chosen.map((field) => [field.name, isRow(row) ? cellValue(field, row) : null]));
  const data = result.kind === 'record' ? result.row : result.kind === 'rows' ? result.rows : result.data;
  return Array.isArray(data) ? data.map(picked) : picked(data);
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null;

/** Without a header, for `cut`, `awk` and `while read`. */
const renderTsv = (fields: readonly Field[], rows: readonly Row[]): string =>
  rows.map((row) => `${fields.map((field) => rawCell(field, row)).join('\t')}\n`).join('');

/** RFC 4180 with a header; a text that a spreadsheet would run gets an apostrophe. */
export async function renderCsv(
  fields: readonly Field[],
  rows: readonly Row[],
  { hasHeader = true }: { readonly hasHeader?: boolean } = {},
): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  const header = hasHeader ? [fields.map(({ name }) => name)] : [];
  const lines = rows.map((row) => fields.map((field) => csvCell(field, row)));
  return stringify([...header, ...lines], { escape_formulas: true });
}

/** A negative number is no formula. */
function csvCell(field: Field, row: Row): string | number {
  const value = cellValue(field, row);
  return typeof value === 'number' ? value : rawCell(field, row);
}
