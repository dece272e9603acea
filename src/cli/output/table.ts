import Table, { type TableConstructorOptions as TableOptions } from 'cli-table3';
import stringWidth from 'string-width';
import { type Field, labelOf, shownCell, type View } from './result.ts';

type Row = Record<string, unknown>;

/** A rendered text, and the columns that the terminal has no room for. */
export interface TableText {
  readonly text: string;
  readonly hidden: readonly Field[];
}

/** Spaces between two columns. */
const GAP = 2;

const noLines = {
  ...{ top: '', 'top-left': '', 'top-mid': '', 'top-right': '', left: '', 'left-mid': '', right: '', 'right-mid': '' },
  ...{ bottom: '', 'bottom-left': '', 'bottom-mid': '', 'bottom-right': '', mid: '', 'mid-mid': '' },
  middle: ' '.repeat(GAP),
};

/** How many rows are laid out at once: the library takes four times as long for twice as many. */
const PART = 50;

/** Cells in their columns, which stand side by side without lines between them: a line for each row. */
export function layOut(
  cells: readonly (readonly string[])[],
  { colWidths = widthsOf(cells), colAligns = [] }: Pick<TableOptions, 'colWidths' | 'colAligns'> = {},
) {
  const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };
  const lines: string[] = [];
  for (let start = 0; start < cells.length; start += PART) {
    const table = new Table({ colWidths, colAligns, chars: noLines, style });
    table.push(...cells.slice(start, start + PART).map((row) => [...row]));
    for (const line of table.toString().split('\n')) lines.push(line.trimEnd());
  }
  return lines;
}

/** What the widest cell of each column takes. */
const widthsOf = (cells: readonly (readonly string[])[]): number[] =>
  (cells[0] ?? []).map((_, column) => cells.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? '')), 0));

/** Renders one object, a line per field. */
export const renderRecord = (fields: readonly Field[], row: Row, { paint, now }: View): string =>
  linesOf(layOut(fields.map((field) => [paint.dim(labelOf(field)), shownCell(field, row, now)])));

/** Renders rows below an upper-case header; where the identifiers do not fit, a record for each row. */
export function renderTable(fields: readonly Field[], rows: readonly Row[], view: View): TableText {
  const columns = fields.map((field) => readColumn(field, rows, view));
  const fitted = fitColumns(columns, view.columns);
  if (!fitted) return { text: rows.map((row) => renderRecord(fields, row, view)).join('\n'), hidden: [] };

  const header = fitted.map(({ label, width }) => view.paint.dim(cut(label, width)));
  const lines = rows.map((_, at) => fitted.map(({ cells, width }) => cut(cells[at] ?? '', width)));
  const shown = fitted.map(({ field }) => field);
  return {
    text: linesOf(
      layOut([header, ...lines], {
        colWidths: fitted.map(({ width }) => width),
        colAligns: shown.map(({ isNumber }) => (isNumber ? 'right' : 'left')),
      }),
    ),
    hidden: fields.filter((field) => !shown.includes(field)),
  };
}

const linesOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** How many columns of a terminal a text takes. */
export const displayWidth = (text: string): number => stringWidth(text);

/** Cuts between characters as people count them, so that no accent and no part of an emoji is left alone. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let shown = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (displayWidth(`${shown}${segment}…`) > width) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** A column with its texts and what they need. */
interface Column {
  readonly field: Field;
  readonly label: string;
  readonly cells: readonly string[];
  /** What the longest text takes. */
  readonly width: number;
  /** What most rows need; the few longer texts are cut before a column is left out. */
  readonly usualWidth: number;
}

const MIN_WIDTH = 10;

/** A text is an outlier when it is longer than three quarters of the column's texts are, times this. */
const OUTLIER_RATIO = 1.5;

function readColumn(field: Field, rows: readonly Row[], view: View): Column {
  const label = labelOf(field).toUpperCase();
  const cells = rows.map((row) => shownCell(field, row, view.now));
  const widths = cells.map(displayWidth).sort((one, other) => one - other);
  const width = Math.max(displayWidth(label), widths.at(-1) ?? 0);
  const usualWidth = field.cuts ? Math.min(width, Math.max(displayWidth(label), usualOf(widths), MIN_WIDTH)) : width;
  return { field, label, cells, width, usualWidth };
}

/** The longest of the sorted widths, or their third quartile when the longest is an outlier. */
function usualOf(widths: readonly number[]): number {
  const longest = widths.at(-1) ?? 0;
  const quartile = widths[Math.floor((widths.length - 1) * 0.75)] ?? 0;
  return longest > quartile * OUTLIER_RATIO ? quartile : longest;
}

/** Columns with the width they get; some are left out. Null when not even that makes the identifiers fit. */
function fitColumns(columns: readonly Column[], room: number): readonly Column[] | null {
  let kept = columns;
  for (;;) {
    const floor = sum(kept.map(({ usualWidth }) => usualWidth));
    if (floor <= room) return share(kept, room);
    const next = firstToDrop(kept);
    if (!next) break;
    kept = kept.filter((column) => column !== next);
  }
  const least = kept.map((column) => ({ ...column, usualWidth: leastWidth(column) }));
  return sum(least.map(({ usualWidth }) => usualWidth)) <= room ? share(least, room) : null;
}

const leastWidth = ({ field, width }: Column): number => (field.cuts ? Math.min(width, MIN_WIDTH) : width);

function firstToDrop(columns: readonly Column[]): Column | undefined {
  return columns
    .filter(({ field }) => field.drops !== undefined)
    .sort((one, other) => (one.field.drops ?? 0) - (other.field.drops ?? 0))[0];
}

/** Gives each column its usual width, and what is left to those that want more, evenly. */
function share(columns: readonly Column[], room: number): readonly Column[] {
  const given = columns.map(({ usualWidth }) => ({ width: usualWidth, more: 0 }));
  for (let left = room - sum(given.map(({ width }) => width)); left > 0; left--) {
    const wanting = given.filter(({ width }, at) => width < (columns[at]?.width ?? 0));
    const [next] = wanting.sort((one, other) => one.more - other.more);
    if (next === undefined) break;
    next.width++;
    next.more++;
  }
  return columns.map((column, at) => ({ ...column, width: given[at]?.width ?? column.width }));
}

/** The width of a table with such columns. */
const sum = (widths: readonly number[]): number => widths.reduce((total, width) => total + width + GAP, -GAP);
