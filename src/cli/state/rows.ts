import { toInstant } from '../../domain/time.ts';
import type { RowBody } from '../bulk/reading/read-bodies.ts';
import type { Run } from '../bulk/run.ts';
import type { Io } from '../io.ts';
import { repeatableSpan } from './journal.ts';
import type { StoredRun } from './runs.ts';
import type { State, StateRow } from './state.ts';

/** Why the service refused a row. */
export interface Failure {
  readonly code: string;
  readonly status: number | null;
  readonly message: string;
}

const kinds = ['open', 'done', 'failed', 'unknown'] as const;

/** `open`: not known to be answered; `unknown`: sent so long ago that only a person can tell. */
export type RowKind = (typeof kinds)[number];

/** A row of a run, with what is known of it. */
export interface RunRow extends RowBody {
  /** Its number, from 1. */
  readonly row: number;
  readonly kind: RowKind;
  /** What became of it, in a word of the command: `created`. */
  readonly status: string;
  /** The number of its idempotency key, from 1: a row that is retried gets another. */
  readonly attempt: number;
  readonly result: Readonly<Record<string, unknown>>;
  readonly error: Failure | null;
}

/** The last word of the service on a row. */
export type Settled = Pick<RunRow, 'row' | 'kind' | 'status' | 'result' | 'error'>;

/** How many rows are of each kind, and how many of those that are done existed before. */
export type Counts = Readonly<Record<RowKind | 'existing', number>>;

/** Keeps rows aside while a file is read; they are gone with the process unless a run is made of them. */
export function keepAside(state: State): (row: RowBody) => void {
  state.run('DROP TABLE IF EXISTS temp.aside');
  state.run('CREATE TEMP TABLE aside (row INTEGER PRIMARY KEY, line INTEGER, body TEXT NOT NULL) STRICT');
  state.all('PRAGMA temp.journal_mode = OFF');
  return ({ line, body }) => {
    state.run('INSERT INTO temp.aside (line, body) VALUES (?, ?)', line, JSON.stringify(body));
  };
}

const COLUMNS = 'row, line, body, attempt, status, result, error';

/** What a row is: one that was sent and has no answer is open as long as it can be sent again. */
const KIND = `coalesce(kind, iif(sent_at IS NULL OR sent_at BETWEEN ? AND ?, 'open', 'unknown'))`;

/** How many rows are in memory at a time. */
const PAGE = 256;

/** The rows of a run, seen as they are now. */
export type RunRows = ReturnType<typeof rowsOf>;

/** @param repeatsSafely whether sending a row twice does no more than sending it once */
export function rowsOf(
  state: State,
  { run, number }: StoredRun,
  { repeatsSafely = false }: { readonly repeatsSafely?: boolean },
  { now }: Pick<Io, 'now'>,
) {
  /** The times between which a row was sent that can be sent again. */
  const span = () => (repeatsSafely ? (['', '~'] as const) : repeatableSpan(now()));

  function counts(): Counts {
    const counted = { open: 0, done: 0, failed: 0, unknown: 0, existing: 0 };
    const sql = `SELECT ${KIND} AS kind, count(*) AS rows, sum(status = 'exists') AS existing FROM row WHERE run = ? GROUP BY 1`;
    for (const { kind, rows, existing } of state.all(sql, ...span(), number)) {
      counted[kindOf(kind)] = Number(rows);
      counted.existing += Number(existing);
    }
    return counted;
  }

  /** Whether one of them may have been done. */
  function hasBegun(): boolean {
    const sql = `SELECT 1 FROM row WHERE run = ? AND sent_at IS NOT NULL AND kind IS NOT 'failed' LIMIT 1`;
    return state.all(sql, number).length > 0;
  }

  /** All of them in their order. */
  function* read(): Generator<RunRow> {
    const sql = `SELECT ${COLUMNS}, ${KIND} AS kind FROM row WHERE run = ? AND row > ? ORDER BY row LIMIT ${PAGE}`;
    for (let last = 0; ; ) {
      const page = state.all(sql, ...span(), number, last).map((row) => runRow(row, run));
      yield* page;
      if (page.length < PAGE) return;
      last = page.at(-1)?.row ?? 0;
    }
  }

  /** Open rows behind another one, which are noted as sent: to be called in a transaction, before they are. */
  function takeOpen(after: number): readonly RunRow[] {
    const sql = `SELECT ${COLUMNS}, 'open' AS kind FROM row
      WHERE run = ? AND row > ? AND kind IS NULL AND (sent_at IS NULL OR sent_at BETWEEN ? AND ?)
      ORDER BY row LIMIT ${PAGE}`;
    const page = state.all(sql, number, after, ...span()).map((row) => runRow(row, run));
    for (const { row } of page) {
      // The first time counts: what was sent then is what the service may have forgotten.
      const note = 'UPDATE row SET sent_at = coalesce(sent_at, ?) WHERE run = ? AND row = ?';
      state.run(note, toInstant(now()), number, row);
    }
    return page;
  }

  /** To be called in a transaction. */
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

  return { counts, hasBegun, read, takeOpen, settle, reopen };
}

const unanswered: Failure = {
  code: 'no_answer',
  status: null,
  message: 'no answer is known, and it was sent more than 23 hours ago, or the clock was set since',
};

function runRow(stored: StateRow, run: Run): RunRow {
  const { row, line, body, attempt, status, result, error } = stored;
  const kind = kindOf(stored.kind);
  return {
    row: Number(row),
    line: line === null ? null : Number(line),
    body: parsed(body) ?? run.body ?? {},
    attempt: Number(attempt),
    kind,
    status: String(status ?? kind),
    result: parsed(result) ?? {},
    error: parsed(error) ?? (kind === 'unknown' ? unanswered : null),
  };
}

const parsed = (text: unknown) => (text === null ? null : JSON.parse(String(text)));

const kindOf = (value: unknown): RowKind => kinds.find((kind) => kind === value) ?? 'open';
