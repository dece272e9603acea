import { toInstant } from '../../domain/time.ts';
import { LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { repeatableSpan } from './journal.ts';
import type { Run, StoredRun } from './runs.ts';
import type { State } from './state.ts';

/** `open`: not known to be answered; `unknown`: sent so long ago that only a person can tell. */
export type RowKind = 'open' | 'done' | 'failed' | 'unknown';

export interface RunRow {
  /** Its number, from 1. */
  readonly row: number;
  /** Its line in the file; null where there is no file. */
  readonly line: number | null;
  readonly body: Readonly<Record<string, unknown>>;
  readonly kind: RowKind;
  readonly status: string;
  /** The number of its idempotency key, from 1: a row that is retried gets another. */
  readonly attempt: number;
  readonly result: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: string; readonly status: number | null; readonly message: string } | null;
}

/** The last word of the service on a row. */
export type Settled = Pick<RunRow, 'row' | 'kind' | 'status' | 'result' | 'error'>;

/** How many rows are of each kind, and how many of those that are done existed before. */
export type Counts = Readonly<Record<RowKind | 'existing', number>>;

/** What a row is: one that was sent and has no answer is open as long as it can be sent again. */
const KIND = `coalesce(kind, iif(sent_at IS NULL OR sent_at BETWEEN ? AND ?, 'open', 'unknown'))`;

const PAGE = 256;

interface Operation {
  /** Whether sending a row twice does no more than sending it once. */
  readonly repeatsSafely?: boolean;
}

export function openRun<O extends Operation>(
  state: State,
  { run, number }: StoredRun,
  operation: O,
  { now }: Pick<Io, 'now'>,
) {
  const span = () => (operation.repeatsSafely ? (['', '~'] as const) : repeatableSpan(now()));

  /** Takes the run over; whether a process has worked on it before. Throws `LocalError` while another one does. */
  function takeOver(): { readonly isBegun: boolean } {
    return state.transaction(() => {
      const sql = 'SELECT writer FROM run WHERE number = ?';
      const [{ writer } = { writer: null }] = state.all<{ writer: string | null }>(sql, number);
      if (writer !== null && state.isRunning(writer)) {
        throw new LocalError(`run ${run.id} is being worked on by another process`, [
          'Wait until it ends; then the same command prints the same rows.',
        ]);
      }
      state.run('UPDATE run SET writer = ? WHERE number = ?', state.writer(), number);
      return { isBegun: writer !== null };
    });
  }

  function counts(): Counts {
    const counted = { open: 0, done: 0, failed: 0, unknown: 0, existing: 0 };
    const sql = `SELECT ${KIND} AS kind, count(*) AS rows, sum(status = 'exists') AS existing FROM row WHERE run = ? GROUP BY 1`;
    const found = state.all<{ kind: RowKind; rows: number; existing: number }>(sql, ...span(), number);
    for (const { kind, rows, existing } of found) {
      counted[kind] = rows;
      counted.existing += existing;
    }
    return counted;
  }

  function hasBegun(): boolean {
    const sql = `SELECT 1 FROM row WHERE run = ? AND sent_at IS NOT NULL AND kind IS NOT 'failed' LIMIT 1`;
    return state.all(sql, number).length > 0;
  }

  /** The rows behind `after`, or those of them that are of one kind; only so many. */
  function readPage(after: number, only: RowKind | null): readonly RunRow[] {
    const sql = `SELECT * FROM (
        SELECT row, line, body, attempt, status, result, error, ${KIND} AS kind FROM row WHERE run = ? AND row > ?
      ) WHERE kind = coalesce(?, kind) ORDER BY row LIMIT ${PAGE}`;
    return state.all<StoredRow>(sql, ...span(), number, after, only).map((row) => runRow(row, run));
  }

  function* read(): Generator<RunRow> {
    for (let page = readPage(0, null); page.length > 0; page = readPage(page.at(-1)?.row ?? 0, null)) yield* page;
  }

  /** Writes answers down, and notes the next open rows behind `after` as sent, before they are: in one transaction. */
  const takeOpen = (after: number, answers: readonly Settled[]): readonly RunRow[] =>
    state.transaction(() => {
      answers.forEach(settle);
      const page = readPage(after, 'open');
      // The first time counts: what was sent then is what the service may have forgotten.
      const note = 'UPDATE row SET sent_at = coalesce(sent_at, ?) WHERE run = ? AND row > ? AND row <= ?';
      state.run(note, toInstant(now()), number, after, page.at(-1)?.row ?? after);
      return page;
    });

  function settle({ row, kind, status, result, error }: Settled): void {
    const sql = 'UPDATE row SET kind = ?, status = ?, result = ?, error = ? WHERE run = ? AND row = ?';
    state.run(sql, kind, status, JSON.stringify(result), error && JSON.stringify(error), number, row);
  }

  /** Opens failed rows again, each for a request of its own; those whose outcome is unknown too, if that is asked for. */
  function reopen({ unknown }: { readonly unknown: boolean }): void {
    const sql = `UPDATE row
      SET kind = NULL, status = NULL, result = NULL, error = NULL, sent_at = NULL, attempt = attempt + 1
      WHERE run = ? AND ${KIND} IN ('failed', ?)`;
    state.transaction(() => state.run(sql, number, ...span(), unknown ? 'unknown' : 'failed'));
  }

  return {
    run,
    operation,
    takeOver,
    counts,
    hasBegun,
    read,
    takeOpen,
    keepAnswers: (answers: readonly Settled[]) => state.transaction(() => answers.forEach(settle)),
    reopen,
    /** The ids of what the rows refer to, by need. */
    readPrepared(): Map<string, string> {
      const sql = 'SELECT need, id FROM prepared WHERE run = ?';
      return new Map(state.all<{ need: string; id: string }>(sql, number).map(({ need, id }) => [need, id]));
    },
    keepPrepared: (ids: Iterable<readonly [need: string, id: string]>): void =>
      state.transaction(() => {
        const sql = 'INSERT OR IGNORE INTO prepared (run, need, id) VALUES (?, ?, ?)';
        for (const [need, id] of ids) state.run(sql, number, need, id);
      }),
    /** The SHA-256 of each content that the run has written to a file. */
    readOutputs(path: string): readonly string[] {
      const sql = 'SELECT digest FROM output WHERE run = ? AND path = ?';
      return state.all<{ digest: string }>(sql, number, path).map(({ digest }) => digest);
    },
    keepOutput: (path: string, digest: string): number =>
      state.run('INSERT OR IGNORE INTO output (run, path, digest) VALUES (?, ?, ?)', number, path, digest),
  };
}

const unanswered = {
  code: 'no_answer',
  status: null,
  message: 'no answer is known, and it was sent more than 23 hours ago, or the clock was set since',
};

/** A row as `state.db` has it: objects as JSON. */
type StoredRow = Pick<RunRow, 'row' | 'line' | 'attempt' | 'kind'> &
  Readonly<Record<'body' | 'status' | 'result' | 'error', string | null>>;

const runRow = ({ row, line, body, attempt, kind, status, result, error }: StoredRow, run: Run): RunRow => ({
  ...{ row, line, attempt, kind },
  body: parsed(body) ?? run.body ?? {},
  status: status ?? kind,
  result: parsed(result) ?? {},
  error: parsed(error) ?? (kind === 'unknown' ? unanswered : null),
});

const parsed = (text: string | null) => (text === null ? null : JSON.parse(text));
