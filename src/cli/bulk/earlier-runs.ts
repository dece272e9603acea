import { createHash } from 'node:crypto';
import { UsageError } from '../failure/errors.ts';
import { count, moment } from '../output/words.ts';
import { countRows, hasSent, listRuns, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import type { BulkOperation } from './operation.ts';
import type { RawRow } from './reading/raw-rows.ts';
import type { RowBody } from './reading/read-bodies.ts';
import type { Run } from './run.ts';

/** What a file turned out to be, beside its rows. */
interface Comparison {
  readonly rows: number;
  /** SHA-256 of its rows, whatever the form of the file. */
  readonly digest: string;
  /** The runs of a service whose rows it begins with, where doing these rows again would do more. */
  runsOfPrefix(origin: string): readonly StoredRun[];
}

/** Compares the rows of a file, as they come, with those of earlier runs. */
export function compareWithEarlierRuns(operation: BulkOperation, scope: string, state: State | null) {
  const { command } = operation;
  const all = state === null ? [] : listRuns(state);
  const earlier = all.filter(({ run }) => run.command === command && run.scope === scope);
  const lengths = new Set(earlier.map(({ run }) => run.rows));
  /** By number of rows: the digest of the first rows, where one of them would be done again. */
  const prefixDigests = new Map<number, string>();
  const whole = createHash('sha256');
  let rows = 0;
  let hasUnsafeRow = false;

  function add({ cells }: RawRow, body: RowBody['body']): void {
    rows += 1;
    whole.update(`${JSON.stringify(cells)}\n`);
    hasUnsafeRow ||= !operation.repeatsSafely && !operation.refusesAgain(body);
    if (hasUnsafeRow && lengths.has(rows)) prefixDigests.set(rows, whole.copy().digest('hex'));
  }

  const end = (): Comparison => ({
    rows,
    digest: whole.digest('hex'),
    runsOfPrefix: (origin) =>
      earlier.filter(({ run }) => run.origin === origin && prefixDigests.get(run.rows) === run.rowsDigest),
  });

  return { add, end };
}

interface File {
  readonly name: string;
  readonly rows: number;
  readonly now: number;
}

/** Throws `UsageError` for a file that begins with the rows of an earlier run, unless that run has done nothing. */
export function refuseRepeatedPrefix(
  runs: readonly StoredRun[],
  operation: BulkOperation,
  file: File,
  state: State | null,
): void {
  for (const stored of runs.toSorted((a, b) => b.run.rows - a.run.rows)) {
    if (state === null) return;
    const look = { now: file.now, repeatsSafely: operation.repeatsSafely };
    const { done, unknown, open } = countRows(state, stored, look);
    const isBegun = done > 0 || unknown > 0 || (open > 0 && hasSent(state, stored));
    if (isBegun) throw repeatedPrefix(stored.run, { done, open }, operation, file);
  }
}

function repeatedPrefix(
  { id, rows, createdAt }: Run,
  { done, open }: { readonly done: number; readonly open: number },
  operation: BulkOperation,
  file: File,
): UsageError {
  const fresh = file.rows - rows;
  const begins = fresh === 0 ? `has the same ${count(rows, 'row')} as` : `begins with the ${count(rows, 'row')} of`;
  return new UsageError(
    `${file.name} ${begins} run ${id} of ${moment(createdAt)}, which has ${operation.done} ${count(done, operation.noun)}`,
    [
      `Nothing was sent. As a run of its own, it would do ${rows === 1 ? 'this row' : 'these rows'} a second time.`,
      open > 0 ? ['Finish that run:', `lkm jobs resume ${id}`] : ['See what that run did:', `lkm jobs show ${id}`],
      ...(fresh > 0
        ? [['Do the rest alone:', `put the ${count(fresh, 'new row')} into a file of their own`] as const]
        : []),
      ['Do all of it, once more:', 'add --run NAME'],
    ],
  );
}
