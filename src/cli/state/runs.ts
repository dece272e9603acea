import { toInstant } from '../../domain/time.ts';
import type { RowBody } from '../bulk/reading/read-bodies.ts';
import { Run } from '../bulk/run.ts';
import { LocalError, NotFoundError } from '../failure/errors.ts';
import { repeatableSpan } from '../request/repeatable.ts';
import type { State, StateRow } from './state.ts';

/** Why the service refused a row. */
export interface Failure {
  readonly code: string;
  readonly status: number | null;
  readonly message: string;
}

/** `open`: not known to be answered; `unknown`: sent so long ago that only a person can tell. */
export type RowKind = 'open' | 'done' | 'failed' | 'unknown';

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

/** When rows are looked at, and whether sending one twice does no more than sending it once. */
export interface Look {
  readonly now: number;
  readonly repeatsSafely: boolean;
}

/** How many rows are of each kind, and how many of those that are done existed before. */
export type Counts = Readonly<Record<RowKind | 'existing', number>>;

/** A run that is written down. */
export interface StoredRun {
  readonly run: Run;
  /** Its number in the state. */
  readonly number: number;
}

/** Every run, oldest first. */
export const listRuns = (state: State): readonly StoredRun[] =>
  state.all('SELECT number, id, description FROM run ORDER BY number').map(storedRun);

export function readRun(state: State, id: string): StoredRun | null {
  const [row] = state.all('SELECT number, id, description FROM run WHERE id = ?', id);
  return row === undefined ? null : storedRun(row);
}

/** The run that an id, the start of one, or a name stands for. Throws `NotFoundError`. */
export function findRun(state: State | null, text: string): StoredRun {
  const runs = state === null ? [] : listRuns(state);
  const exact = runs.filter(({ run }) => run.id === text || run.name === text);
  const found = exact.length > 0 ? exact : runs.filter(({ run }) => text.length >= 4 && run.id.startsWith(text));
  const [run] = found;
  if (run !== undefined && found.length === 1) return run;
  const what = found.length === 0 ? `there is no run '${text}'` : `'${text}' stands for ${found.length} runs`;
  throw new NotFoundError(what, [['See them:', 'lkm jobs list']]);
}

function storedRun({ number, id, description }: StateRow): StoredRun {
  const { data, error } = Run.safeParse(JSON.parse(String(description)));
  if (data === undefined) throw new LocalError(`this version of lkm cannot read run ${id}`, [], { cause: error });
  return { run: data, number: Number(number) };
}

/** Keeps rows aside while a file is read; they are gone with the process unless a run is made of them. */
export function keepAside(state: State): (row: RowBody) => void {
  state.run('DROP TABLE IF EXISTS temp.aside');
  state.run('CREATE TEMP TABLE aside (row INTEGER PRIMARY KEY, line INTEGER, body TEXT NOT NULL) STRICT');
  state.all('PRAGMA temp.journal_mode = OFF');
  return ({ line, body }) => {
    state.run('INSERT INTO temp.aside (line, body) VALUES (?, ?)', line, JSON.stringify(body));
  };
}

/**
 * Makes a run of the rows that were kept aside; of rows without a body of their own where the run has one for all. When
 * another process has made the same one meanwhile, it is that.
 */
export function createRun(state: State, run: Run): StoredRun {
  return state.transaction(() => {
    const meanwhile = readRun(state, run.id);
    if (meanwhile !== null) return meanwhile;
    const [made] = state.all(
      'INSERT INTO run (id, description) VALUES (?, ?) RETURNING number',
      run.id,
      JSON.stringify(run),
    );
    const number = Number(made?.number);
    if (run.body === null) {
      state.run(
        'INSERT INTO row (run, row, line, body) SELECT ?, row, line, body FROM temp.aside ORDER BY row',
        number,
      );
    } else {
      state.run(
        `INSERT INTO row (run, row)
         WITH RECURSIVE n (row) AS (SELECT 1 UNION ALL SELECT row + 1 FROM n WHERE row < ?) SELECT ?, row FROM n`,
        ...[run.rows, number],
      );
    }
    return { run, number };
  });
}

/** Takes a run over; whether a process has worked on it before. Throws `LocalError` while another one does. */
export function takeOver(state: State, { run, number }: StoredRun): { readonly isBegun: boolean } {
  return state.transaction(() => {
    const [{ writer = null } = {}] = state.all('SELECT writer FROM run WHERE number = ?', number);
    if (writer !== null && state.isRunning(String(writer))) {
      throw new LocalError(`run ${run.id} is being worked on by another process`, [
        'Wait until it ends; then the same command prints the same rows.',
      ]);
    }
    state.run('UPDATE run SET writer = ? WHERE number = ?', state.writer(), number);
    return { isBegun: writer !== null };
  });
}

/** What a row is: one that was sent and has no answer is open as long as it can be sent again. */
const KIND = `coalesce(kind, iif(sent_at IS NULL OR sent_at BETWEEN ? AND ?, 'open', 'unknown'))`;

/** The times between which a row was sent that can be sent again. */
const span = ({ now, repeatsSafely }: Look): readonly [string, string] =>
  repeatsSafely ? ['', '~'] : repeatableSpan(now);

export function countRows(state: State, { number }: StoredRun, look: Look): Counts {
  const counts = { open: 0, done: 0, failed: 0, unknown: 0, existing: 0 };
  const sql = `SELECT ${KIND} AS kind, count(*) AS rows, sum(status = 'exists') AS existing FROM row WHERE run = ? GROUP BY 1`;
  for (const { kind, rows, existing } of state.all(sql, ...span(look), number)) {
    counts[kindOf(kind)] = Number(rows);
    counts.existing += Number(existing);
  }
  return counts;
}

/** Whether any of its rows may have been sent. */
export const hasSent = (state: State, { number }: StoredRun): boolean =>
  state.all('SELECT 1 FROM row WHERE run = ? AND (sent_at IS NOT NULL OR kind IS NOT NULL) LIMIT 1', number).length > 0;

const PAGE = 256;

/** Its rows in their order; only a part of them is in memory. */
export function* readRows(state: State, stored: StoredRun, look: Look): Generator<RunRow> {
  const sql = `SELECT row, line, body, attempt, ${KIND} AS kind, status, result, error FROM row
    WHERE run = ? AND row > ? ORDER BY row LIMIT ${PAGE}`;
  for (let last = 0; ; ) {
    const page = state.all(sql, ...span(look), stored.number, last).map((row) => runRow(row, stored.run));
    yield* page;
    if (page.length < PAGE) return;
    last = page.at(-1)?.row ?? 0;
  }
}

/** The open rows behind another one, which are noted as sent: to be called before they are. */
export function takeOpen(state: State, stored: StoredRun, after: number, look: Look): readonly RunRow[] {
  const [from, to] = span(look);
  const page = state.all(
    `SELECT row, line, body, attempt, 'open' AS kind, status, result, error FROM row WHERE run = ? AND row > ?
     AND kind IS NULL AND (sent_at IS NULL OR sent_at BETWEEN ? AND ?) ORDER BY row LIMIT ${PAGE}`,
    ...[stored.number, after, from, to],
  );
  for (const { row = null } of page) {
    // The first time counts: what was sent then is what the service may have forgotten.
    const sql = 'UPDATE row SET sent_at = coalesce(sent_at, ?) WHERE run = ? AND row = ?';
    state.run(sql, toInstant(look.now), stored.number, row);
  }
  return page.map((row) => runRow(row, stored.run));
}

export function settleRow(state: State, { number }: StoredRun, { row, kind, status, result, error }: Settled): void {
  state.run(
    'UPDATE row SET kind = ?, status = ?, result = ?, error = ? WHERE run = ? AND row = ?',
    ...[kind, status, JSON.stringify(result), error === null ? null : JSON.stringify(error), number, row],
  );
}

/** Opens failed rows again, each for a request of its own; those whose outcome is unknown too, if that is asked for. */
export function reopenRows(state: State, { number }: StoredRun, look: Look, also: 'unknown' | null): void {
  state.transaction(() => {
    state.run(
      `UPDATE row SET kind = NULL, status = NULL, result = NULL, error = NULL, sent_at = NULL, attempt = attempt + 1
       WHERE run = ? AND ${KIND} IN ('failed', ?)`,
      ...[number, ...span(look), also ?? 'failed'],
    );
  });
}

/** What was found or made for a run before its rows: ids by need. */
export const readPrepared = (state: State, { number }: StoredRun): Map<string, string> =>
  new Map(
    state
      .all('SELECT need, id FROM prepared WHERE run = ?', number)
      .map(({ need, id }) => [String(need), String(id)] as const),
  );

export function keepPrepared(state: State, { number }: StoredRun, need: string, id: string): void {
  state.run('INSERT OR IGNORE INTO prepared (run, need, id) VALUES (?, ?, ?)', number, need, id);
}

/** The SHA-256 of each content that a run has written to a file. */
export const readOutputs = (state: State, { number }: StoredRun, path: string): readonly string[] =>
  state.all('SELECT digest FROM output WHERE run = ? AND path = ?', number, path).map(({ digest }) => String(digest));

export function keepOutput(state: State, { number }: StoredRun, path: string, digest: string): void {
  state.transaction(() => {
    state.run('INSERT OR IGNORE INTO output (run, path, digest) VALUES (?, ?, ?)', number, path, digest);
  });
}

const unanswered: Failure = {
  code: 'no_answer',
  status: null,
  message: 'no answer is known, and it was sent more than 23 hours ago, or the clock was set since',
};

function runRow(row: StateRow, run: Run): RunRow {
  const kind = kindOf(row.kind);
  const error: Failure | null = row.error === null ? null : parsed(row.error);
  return {
    row: Number(row.row),
    line: row.line === null ? null : Number(row.line),
    body: row.body === null ? (run.body ?? {}) : parsed(row.body),
    attempt: Number(row.attempt),
    kind,
    status: row.status === null ? kind : String(row.status),
    result: row.result === null ? {} : parsed(row.result),
    error: kind === 'unknown' ? (error ?? unanswered) : error,
  };
}

const parsed = (text: unknown) => JSON.parse(String(text));

const kinds: readonly RowKind[] = ['open', 'done', 'failed', 'unknown'];

const kindOf = (value: unknown): RowKind => kinds.find((kind) => kind === value) ?? 'open';
