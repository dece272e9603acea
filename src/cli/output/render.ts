import type { Format } from '../config/settings.ts';
import { renderCsv, renderEnv, renderTsv } from './delimited.ts';
import { cellValue } from './fields.ts';
import type { CommandResult, Field, View } from './result.ts';
import type { TableText } from './table.ts';
import { sanitise, sanitiseJson } from './text.ts';

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
export async function render(result: CommandResult, rendering: Rendering): Promise<TableText> {
  const { format, quiet } = rendering;
  if (format === 'json' || format === 'jsonl') return whole(renderJson(result, rendering));
  if (result.kind === 'file') return whole(withNewline(result.content));
  if (quiet) return whole(result.quiet.map((line) => `${sanitise(line)}\n`).join(''));
  if (result.kind === 'done') return whole('');
  if (result.kind === 'page') return whole(await result.page(rendering.view));
  const isBare = result.kind === 'value' && rendering.chosen === null && (format === 'table' || format === 'tsv');
  if (isBare) return whole(`${sanitise(result.value)}\n`);
  return renderFields(result, rendering);
}

const whole = (text: string): TableText => ({ text, hidden: [] });

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

type Fielded = Extract<CommandResult, { kind: 'value' | 'record' | 'rows' }>;

async function renderFields(result: Fielded, { format, fields, chosen, view }: Rendering): Promise<TableText> {
  const medium = format === 'table' ? 'table' : 'data';
  const shown = chosen ?? fields.filter(({ shown }) => shown === undefined || shown === medium);
  const rows = rowsOf(result);
  if (format === 'tsv') return whole(renderTsv(shown, rows));
  if (format === 'csv') return whole(await renderCsv(shown, rows));
  if (format === 'env') return whole(renderEnv(shown, rows));
  if (rows.length === 0) return whole('');
  // Loaded late: most commands print one value, and counting columns takes a while to load.
  const { renderRecord, renderTable } = await import('./table.ts');
  if (result.kind === 'rows') return renderTable(shown, rows, view);
  const record = rows.map((row) => renderRecord(shown, row, view)).join('');
  const parts = chosen === null && result.kind === 'record' ? (result.parts ?? []) : [];
  const tables = await Promise.all(
    parts.filter(({ rows }) => rows.length > 0).map((part) => renderTable(part.fields, part.rows, view)),
  );
  return whole([record, ...tables.map(({ text }) => text)].join('\n'));
}

function rowsOf(result: Fielded): readonly Record<string, unknown>[] {
  if (result.kind === 'rows') return result.rows;
  return [result.kind === 'record' ? result.row : result.data];
}

function renderJson(result: CommandResult, { format, chosen, indented }: Rendering): string {
  const data = chosen ? pick(result, chosen) : result.data;
  const lines = format === 'jsonl' && Array.isArray(data) ? data : [data];
  const indent = format === 'json' && indented ? 2 : undefined;
  return lines.map((line) => `${sanitiseJson(JSON.stringify(line ?? {}, null, indent))}\n`).join('');
}

/** A flat object of the chosen fields, or one for each row. */
function pick(result: CommandResult, chosen: readonly Field[]): unknown {
  const picked = (row: Record<string, unknown>) =>
    Object.fromEntries(chosen.map((field) => [field.name, cellValue(field, row)]));
  if (result.kind === 'rows') return result.rows.map(picked);
  return picked(result.kind === 'record' ? result.row : (result.data as Record<string, unknown>));
}
