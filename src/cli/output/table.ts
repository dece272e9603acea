import { labelOf, shownCell } from './cells.ts';
import { renderRecord } from './record.ts';
import type { Field } from './result.ts';
import type { View } from './view.ts';
import { displayWidth } from './width.ts';

type Row = Record<string, unknown>;

const GAP = 2;
const MIN_COLUMN_WIDTH = 10;

/** Rows below an upper-case header. Where identifiers do not fit, each row becomes a record. */
export async function renderTable(fields: readonly Field[], rows: readonly Row[], view: View): Promise<string> {
  const cells = rows.map((row) => fields.map((field) => shownCell(field, row, view.now)));
  const head = fields.map((field) => labelOf(field).toUpperCase());
  const natural = head.map((label, at) =>
    Math.max(displayWidth(label), ...cells.map((row) => displayWidth(row[at] ?? ''))),
  );
  const widths = fitWidths(natural, fields, view.columns);
  if (!widths) return rows.map((row) => renderRecord(fields, row, view)).join('\n');

  const { default: Table } = await import('cli-table3');
  const table = new Table({
    head: head.map((label) => view.paint.dim(label)),
    chars: borderless,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: widths,
  });
  table.push(...cells);
  return `${table.toString().replaceAll(/ +$/gm, '')}\n`;
}

/** The width of each column; null when not even cutting makes them fit. */
function fitWidths(natural: readonly number[], fields: readonly Field[], columns: number): number[] | null {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
  for (const [at, field] of fields.entries()) {
    const width = widths[at] ?? 0;
    if (excess <= 0 || !field.cuts || width <= MIN_COLUMN_WIDTH) continue;
    const cut = Math.min(excess, width - MIN_COLUMN_WIDTH);
    widths[at] = width - cut;
    excess -= cut;
  }
  return excess > 0 ? null : widths;
}

const borderless = {
  ...Object.fromEntries(
    ['top', 'bottom', 'mid', 'left', 'right']
      .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
      .map((part) => [part, '']),
  ),
  middle: ' '.repeat(GAP),
};
