import { exitCodes } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import type { BulkOperation } from './operation.ts';
import type { RowBody } from './reading/read-bodies.ts';
import { resultFields } from './result-fields.ts';
import { countStates, type RowState } from './row-states.ts';
import { type BulkRun, rowKey } from './run.ts';

interface Finished {
  readonly run: BulkRun;
  readonly operation: BulkOperation;
  readonly rows: Iterable<RowBody>;
  /** The first at 1. */
  readonly states: readonly RowState[];
  readonly notes: readonly Note[];
}

/** A row for each row of the run, in their order. */
export function resultOf({ run, operation, rows, states, notes }: Finished): CommandResult {
  const all: Record<string, unknown>[] = [];
  const done: Record<string, unknown>[] = [];
  let row = 0;
  for (const rowBody of rows) {
    row += 1;
    const state = states[row];
    if (state === undefined) continue;
    const result = resultRow(run, operation, { state, row, rowBody });
    all.push(result);
    if (state.kind === 'done') done.push(result);
  }
  const counted = countStates(states);
  const existing = done.filter(({ status }) => status === 'exists').length;
  const isWhole = counted.done === run.rows;
  const keys = done.flatMap(({ key }) => (typeof key === 'string' ? [key] : []));
  const quiet = done.map(({ key, id }) => String(key ?? id ?? ''));
  return {
    kind: 'rows',
    rows: all,
    data: all,
    quiet,
    secrets: keys,
    isOfChanges: true,
    empty: '',
    fields: resultFields(operation.fields),
    secret: true,
    notes: [...notes, ...summary(run, operation, { ...counted, existing })],
    ...(!isWhole && { exitCode: exitCodes.partial }),
  };
}

function resultRow(
  { id }: BulkRun,
  operation: BulkOperation,
  { state, row, rowBody }: { readonly state: RowState; readonly row: number; readonly rowBody: RowBody },
): Record<string, unknown> {
  const { status, result, error, attempt } = state;
  return {
    row,
    ...(rowBody.line !== null && { line: rowBody.line }),
    status,
    ...operation.name(rowBody.body),
    ...result,
    ...(error !== null && { error }),
    idempotencyKey: rowKey(id, row, attempt),
  };
}

function summary(
  { id, rows }: BulkRun,
  { done, noun }: BulkOperation,
  counted: ReturnType<typeof countStates> & { readonly existing: number },
): Note[] {
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
