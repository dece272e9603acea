import Table from 'cli-table3';
import stringWidth from 'string-width';
import { cellValue, type Field, shownCell, type View } from './result.ts';
import type { Paint } from './terminal.ts';
import { EMPTY_CELL, wrap } from './words.ts';

type Row = Record<string, unknown>;

const GAP = 2;

const noLines = {
  ...{ top: '', 'top-left': '', 'top-mid': '', 'top-right': '', left: '', 'left-mid': '', right: '', 'right-mid': '' },
  ...{ bottom: '', 'bottom-left': '', 'bottom-mid': '', 'bottom-right': '', mid: '', 'mid-mid': '' },
  middle: ' '.repeat(GAP),
};

/** Rows per table: the library takes four times as long for twice as many. */
const MAX_ROWS_AT_ONCE = 50;

/** Aligns cells in columns without lines between them; returns a line per row. */
export function layOut(
  cells: readonly (readonly string[])[],
  widths: readonly number[] = widthsOf(cells),
  areNumbers: readonly (boolean | undefined)[] = [],
): string[] {
  const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };
  const colAligns = areNumbers.map((isNumber) => (isNumber ? ('right' as const) : ('left' as const)));
  const lines: string[] = [];
  for (let start = 0; start < cells.length; start += MAX_ROWS_AT_ONCE) {
    const table = new Table({ colWidths: [...widths], colAligns, chars: noLines, style });
    table.push(...cells.slice(start, start + MAX_ROWS_AT_ONCE).map((row) => [...row]));
    for (const line of table.toString().split('\n')) lines.push(line.trimEnd());
  }
  return lines;
}

const widthsOf = (cells: readonly (readonly string[])[]): number[] =>
  (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.flatMap((row) => linesIn(row[column] ?? '').map((line) => stringWidth(line)))),
  );

const linesIn = (text: string): string[] => text.split('\n');

const labelOf = ({ label, name }: Field): string => label ?? name;

/** Renders a line per field; without `keepsEmpty` only fields with a value. */
export function renderRecord(
  fields: readonly Field[],
  row: Row,
  { paint, now, columns }: View,
  keepsEmpty = true,
): string {
  const cells = fields.map((field) => [field, shownCell(field, row, now)] as const);
  const kept = cells.filter(([, text]) => keepsEmpty || (text !== EMPTY_CELL && text !== ''));
  const labels = Math.max(0, ...kept.map(([field]) => labelOf(field).length));
  return linesOf(
    layOut(
      kept.map(([field, text]) => [
        paint.dim(labelOf(field)),
        painted(wrap(text, columns - labels - GAP).join('\n'), field, row, paint),
      ]),
    ),
  );
}

function painted(text: string, field: Field, row: Row, paint: Paint): string {
  const color = field.color?.(cellValue(field, row));
  return color ? paint[color](text) : text;
}

/**
 * Renders rows below an upper-case header, or a record per row if the identifiers do not fit. Adds the names of columns
 * that do not fit to `hidden`.
 */
export function renderTable(
  fields: readonly Field[],
  rows: readonly Row[],
  view: View,
  hidden: Set<string> = new Set(),
): string {
  const columns = fields.map((field) => readColumn(field, rows, view));
  const briefly = ({ brief, ...field }: Field) =>
    brief && readColumn({ ...field, show: (value) => brief(value) }, rows, view);
  const fitted = fitColumns(columns, view.columns, ({ field }) => briefly(field));
  if (!fitted) return rows.map((row) => renderRecord(fields, row, view)).join('\n');

  const header = fitted.map(({ label, width }) => view.paint.dim(cut(label, width)));
  const lines = rows.map((row, at) =>
    fitted.map(({ field, cells, width }) => painted(fitCell(cells[at] ?? '', field, width), field, row, view.paint)),
  );
  const widths = fitted.map(({ width }) => width);
  const shown = fitted.map(({ field }) => field);
  for (const { name } of fields) if (!shown.some((field) => field.name === name)) hidden.add(name);
  const areNumbers = shown.map(({ isNumber }) => isNumber);
  return linesOf(layOut([header, ...lines], widths, areNumbers));
}

const linesOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Cuts between graphemes, so that no accent or part of an emoji stays alone. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let shown = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(`${shown}${segment}…`) > width) break;
    shown += segment;
  }
  return `${shown}…`;
}

const fitCell = (text: string, { wraps }: Field, width: number): string =>
  (wraps ? wrap(text, width) : [text]).map((line) => cut(line, width)).join('\n');

interface Column {
  readonly field: Field;
  readonly label: string;
  readonly cells: readonly string[];
  readonly width: number;
}

/** Columns that may be cut are cut to this width before a column is left out. */
const USUAL_WIDTH = 28;

const MIN_WIDTH = 10;

function readColumn(field: Field, rows: readonly Row[], view: View): Column {
  const label = labelOf(field).toUpperCase();
  const cells = rows.map((row) => shownCell(field, row, view.now));
  return { field, label, cells, width: Math.max(...[label, ...cells].map((text) => stringWidth(text))) };
}

/** Chooses columns and their widths; null if the identifiers do not fit. */
function fitColumns(
  columns: readonly Column[],
  room: number,
  briefly: (column: Column) => Column | undefined,
): readonly Column[] | null {
  const dropped = columns.filter(({ field }) => field.drops !== undefined).toSorted(byDrops);
  let kept = columns;
  for (const next of [...dropped, null]) {
    const fitted = shrink(kept, USUAL_WIDTH, room);
    if (fitted !== null) return fitted;
    kept = kept.flatMap((column) => (column === next ? (briefly(column) ?? []) : column));
  }
  return shrink(kept, MIN_WIDTH, room);
}

const byDrops = (one: Column, other: Column): number => (one.field.drops ?? 0) - (other.field.drops ?? 0);

/** Distributes the width; columns that may be cut get at least `least`. Null if they do not fit. */
function shrink(columns: readonly Column[], least: number, room: number): readonly Column[] | null {
  const leastOf = ({ field, width }: Column) => (field.cuts || field.wraps ? Math.min(width, least) : width);
  let left = room - columns.reduce((total, column) => total + leastOf(column) + GAP, -GAP);
  if (left < 0) return null;
  const widened = new Map<Column, number>();
  // A column that wraps its text loses nothing when it is narrow.
  for (const column of columns.toSorted((one, other) => Number(wraps(one)) - Number(wraps(other)))) {
    const more = Math.min(left, column.width - leastOf(column));
    left -= more;
    widened.set(column, leastOf(column) + more);
  }
  return columns.map((column) => ({ ...column, width: widened.get(column) ?? column.width }));
}

const wraps = ({ field }: Column): boolean => field.wraps === true;
