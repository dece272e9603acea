import { createHash } from 'node:crypto';
import { type Hint, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { count, moment } from '../output/words.ts';
import { rowsOf } from '../state/rows.ts';
import { listRuns, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import type { Body, BulkOperation } from './operation.ts';
import type { RawRow } from './reading/columns.ts';
import type { Run } from './run.ts';

/** Compares the rows of a file, as they come, with those of earlier runs of the same service and options. */
export function compareWithEarlierRuns(
  operation: BulkOperation,
  { origin, scope }: Pick<Run, 'origin' | 'scope'>,
  state: State | null,
) {
  const { command, repeatsSafely = false } = operation;
  const earlier = (state === null ? [] : listRuns(state)).filter(
    ({ run }) => run.command === command && run.origin === origin && run.scope === scope,
  );
  const lengths = new Set(earlier.map(({ run }) => run.rows));
  const repeated: StoredRun[] = [];
  const whole = createHash('sha256');
  let rows = 0;
  let hasUnsafeRow = false;

  function add({ cells }: RawRow, body: Body): void {
    rows += 1;
    whole.update(`${JSON.stringify(cells)}\n`);
    hasUnsafeRow ||= !repeatsSafely && operation.refusesAgain?.(body) !== true;
    if (!hasUnsafeRow || !lengths.has(rows)) return;
    const digest = whole.copy().digest('hex');
    repeated.push(...earlier.filter(({ run }) => run.rows === rows && run.rowsDigest === digest));
  }

  return {
    add,
    /** The runs whose rows the file begins with, where doing these rows again would do more. */
    repeated,
    /** SHA-256 of the rows, whatever the form of the file. */
    digest: () => whole.digest('hex'),
  };
}

/** Throws `UsageError` for a file that begins with the rows of an earlier run, unless that run has done nothing. */
export function refuseRepeated(
  runs: readonly StoredRun[],
  operation: BulkOperation,
  file: Pick<Run, 'file' | 'rows'>,
  state: State,
  io: Io,
): void {
  for (const stored of runs.toReversed()) {
    const earlier = rowsOf(state, stored, operation, io);
    if (!earlier.hasBegun()) continue;
    const { id, rows, createdAt } = stored.run;
    const { done, open } = earlier.counts();
    const fresh = file.rows - rows;
    const begins = fresh === 0 ? `has the same ${count(rows, 'row')} as` : `begins with the ${count(rows, 'row')} of`;
    const rest: Hint[] =
      fresh === 0 ? [] : [['Do the rest alone:', `put the ${count(fresh, 'new row')} into a file of their own`]];
    const did = `${operation.done} ${count(done, operation.noun)}`;
    throw new UsageError(`${file.file} ${begins} run ${id} of ${moment(createdAt)}, which has ${did}`, [
      'Nothing was sent. As a run of its own, it would do these rows a second time.',
      open > 0 ? ['Finish that run:', `lkm jobs resume ${id}`] : ['See what that run did:', `lkm jobs show ${id}`],
      ...rest,
      ['Do all of it, once more:', 'add --run NAME'],
    ]);
  }
}
