import type { Format } from '../config/settings.ts';
import { cellValue } from './cells.ts';
import { renderCsv, renderEnv, renderTsv } from './delimited.ts';
import { renderRecord } from './record.ts';
import type { CommandResult, Field } from './result.ts';
import { sanitise, sanitiseJson } from './sanitise.ts';
import { renderTable } from './table.ts';
import type { View } from './view.ts';

/** How an answer is to be printed. */
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

/** The text of an answer, for stdout or a file. */
export async function render(outcome: CommandResult, rendering: Rendering): Promise<string> {
  const { format, quiet } = rendering;
  if (format === 'json' || format === 'jsonl') return renderJson(outcome, rendering);
  if (outcome.kind === 'file') return withNewline(outcome.content);
  if (quiet) return outcome.quiet.map((line) => `${sanitise(line)}\n`).join('');
  if (outcome.kind === 'done') return '';
  if (outcome.kind === 'page') return outcome.page(rendering.view);
  const isBare = outcome.kind === 'value' && rendering.chosen === null && (format === 'table' || format === 'tsv');
  if (isBare) return `${sanitise(outcome.value)}\n`;
  return renderFields(outcome, rendering);
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

type Fielded = Extract<CommandResult, { kind: 'value' | 'record' | 'rows' }>;

async function renderFields(outcome: Fielded, { format, fields, chosen, view }: Rendering): Promise<string> {
  const medium = format === 'table' ? 'table' : 'data';
  const shown = chosen ?? fields.filter(({ shown }) => shown === undefined || shown === medium);
  const rows = rowsOf(outcome);
  if (format === 'tsv') return renderTsv(shown, rows);
  if (format === 'csv') return renderCsv(shown, rows);
  if (format === 'env') return renderEnv(shown, rows);
  if (outcome.kind === 'rows') return rows.length === 0 ? '' : renderTable(shown, rows, view);
  const record = rows.map((row) => renderRecord(shown, row, view)).join('');
  const parts = chosen === null && outcome.kind === 'record' ? (outcome.parts ?? []) : [];
  const tables = await Promise.all(
    parts.filter(({ rows }) => rows.length > 0).map((part) => renderTable(part.fields, part.rows, view)),
  );
  return [record, ...tables].join('\n');
}

function rowsOf(outcome: Fielded): readonly Record<string, unknown>[] {
  if (outcome.kind === 'rows') return outcome.rows;
  return [outcome.kind === 'record' ? outcome.row : (outcome.data as Record<string, unknown>)];
}

function renderJson(outcome: CommandResult, { format, chosen, indented }: Rendering): string {
  const data = chosen ? pick(outcome, chosen) : outcome.data;
  const lines = format === 'jsonl' && Array.isArray(data) ? data : [data];
  const indent = format === 'json' && indented ? 2 : undefined;
  return lines.map((line) => `${sanitiseJson(JSON.stringify(line ?? {}, null, indent))}\n`).join('');
}

function pick(outcome: CommandResult, chosen: readonly Field[]): unknown {
  const picked = (row: Record<string, unknown>) =>
    Object.fromEntries(chosen.map((field) => [field.name, cellValue(field, row)]));
  if (outcome.kind === 'rows') return outcome.rows.map(picked);
  return picked(outcome.kind === 'record' ? outcome.row : (outcome.data as Record<string, unknown>));
}
