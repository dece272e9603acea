import { createHash } from 'node:crypto';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { count, moment } from '../output/words.ts';
import type { BulkOperation } from './operation.ts';
import type { RawRow } from './reading/raw-rows.ts';
import type { RowBody } from './reading/read-bodies.ts';
import { countStates, readStates } from './row-states.ts';
import type { BulkRun } from './run.ts';
import { listRuns, readLinesOf } from './run-store.ts';

/** What a file turned out to be, beside its rows. */
interface Comparison {
  readonly rows: number;
  /** SHA-256 of its rows, whatever the form of the file. */
  readonly digest: string;
  /** The runs of a service whose rows it begins with, where doing these rows again would do more. */
  runsOfPrefix(origin: string): readonly BulkRun[];
}

/** Compares the rows of a file, as they come, with those of earlier runs. */
export function compareWithEarlierRuns(operation: BulkOperation, scope: string, io: Io) {
  const { command } = operation;
  const earlier = listRuns(io).filter((run) => run.command === command && run.scope === scope);
  const lengths = new Set(earlier.map((run) => run.rows));
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
      earlier.filter((run) => run.origin === origin && prefixDigests.get(run.rows) === run.rowsDigest),
  });

  return { add, end };
}

interface File {
  readonly name: string;
  readonly rows: number;
  readonly now: number;
}

/** Throws `UsageError` for a file that begins with the rows of an earlier run, unless that run has done nothing. */
export function refuseRepeatedPrefix(runs: readonly BulkRun[], operation: BulkOperation, file: File, io: Io): void {
  for (const run of runs.toSorted((a, b) => b.rows - a.rows)) {
    const lines = readLinesOf(run.id, io);
    const { done, unknown, open } = countStates(readStates(run, lines, file.now, operation.repeatsSafely));
    const isBegun = done > 0 || unknown > 0 || (open > 0 && hasSent(readLinesOf(run.id, io)));
    if (isBegun) throw repeatedPrefix(run, { done, open }, operation, file);
  }
}

function hasSent(lines: Iterable<{ readonly type: string }>): boolean {
  for (const { type } of lines) if (type === 'sending') return true;
  return false;
}

function repeatedPrefix(
  { id, rows, createdAt }: BulkRun,
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
