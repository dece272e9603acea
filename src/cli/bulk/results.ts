import { exitCodes } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import { type Counts, countRows, type Look, type RunRow, readRows, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import type { BulkOperation } from './operation.ts';
import { resultFields } from './result-fields.ts';
import { type Run, rowKey } from './run.ts';

type RowsResult = Extract<CommandResult, { kind: 'rows' }> & { readonly notes: readonly Note[] };

/** A row for each row of the run, in their order. */
export function resultOf(state: State, stored: StoredRun, operation: BulkOperation, look: Look): RowsResult {
  const { run } = stored;
  const all: Record<string, unknown>[] = [];
  const done: Record<string, unknown>[] = [];
  for (const row of readRows(state, stored, look)) {
    const result = resultRow(run, operation, row);
    all.push(result);
    if (row.kind === 'done') done.push(result);
  }
  const counts = countRows(state, stored, look);
  return {
    kind: 'rows',
    rows: all,
    data: all,
    quiet: done.map(({ key, id }) => String(key ?? id ?? '')),
    secrets: done.flatMap(({ key }) => (typeof key === 'string' ? [key] : [])),
    empty: '',
    fields: resultFields(operation.fields),
    secret: true,
    notes: summary(run, operation, counts),
    ...(counts.done < run.rows && { exitCode: exitCodes.partial }),
  };
}

const resultRow = (
  { id }: Run,
  operation: BulkOperation,
  { row, line, body, status, result, error, attempt }: RunRow,
): Record<string, unknown> => ({
  row,
  ...(line !== null && { line }),
  status,
  ...operation.name(body),
  ...result,
  ...(error !== null && { error }),
  idempotencyKey: rowKey(id, row, attempt),
});

function summary({ id, rows }: Run, { done, noun }: BulkOperation, counted: Counts): Note[] {
  const parts = [
    `${done} ${counted.done - counted.existing} of ${count(rows, noun)}`,
    ...(counted.existing > 0 ? [`${counted.existing} existed already`] : []),
    ...(counted.failed > 0 ? [`${counted.failed} failed`] : []),
    ...(counted.unknown > 0 ? [`${counted.unknown} unknown`] : []),
    ...(counted.open > 0 ? [`${counted.open} not sent`] : []),
    `run ${id}`,
  ];
  const ways = [
    ...(counted.failed > 0 ? [`send the failed rows again: lkm jobs retry ${id}`] : []),
    ...(counted.failed > 0 ? [`put them into a file to mend: lkm jobs show ${id} --failed --format csv`] : []),
    ...(counted.unknown > 0
      ? [`an unknown row may have been ${done}: look before lkm jobs retry ${id} --unknown`]
      : []),
    ...(counted.open > 0 ? [`send the rest: lkm jobs resume ${id}`] : []),
  ];
  const tone = counted.done === rows ? 'done' : 'warning';
  return [{ tone, text: parts.join(' · ') }, ...ways.map((text): Note => ({ tone: 'hint', text }))];
}
