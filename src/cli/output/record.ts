import { labelOf, shownCell } from './cells.ts';
import type { Field } from './result.ts';
import type { View } from './view.ts';
import { displayWidth, padTo } from './width.ts';

/** One thing, a line per field. */
export function renderRecord(fields: readonly Field[], row: Record<string, unknown>, view: View): string {
  const width = Math.max(...fields.map((field) => displayWidth(labelOf(field))));
  return fields
    .map((field) => `${view.paint.dim(padTo(labelOf(field), width))}  ${shownCell(field, row, view.now)}\n`)
    .join('');
}
