import { Run } from '../bulk/run.ts';
import { LocalError, NotFoundError } from '../failure/errors.ts';
import type { State, StateRow } from './state.ts';

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

/**
 * Makes a run of the rows that were kept aside; of rows without a body of their own where the run has one for all. When
 * another process has made the same one meanwhile, it is that.
 */
export function createRun(state: State, run: Run): StoredRun {
  return state.transaction(() => {
    const meanwhile = readRun(state, run.id);
    if (meanwhile !== null) return meanwhile;
    const sql = 'INSERT INTO run (id, description) VALUES (?, ?) RETURNING number';
    const [made] = state.all(sql, run.id, JSON.stringify(run));
    const number = Number(made?.number);
    if (run.body === null) {
      const copy = 'INSERT INTO row (run, row, line, body) SELECT ?, row, line, body FROM temp.aside ORDER BY row';
      state.run(copy, number);
    } else {
      const upTo = 'WITH RECURSIVE n (row) AS (SELECT 1 UNION ALL SELECT row + 1 FROM n WHERE row < ?)';
      state.run(`INSERT INTO row (run, row) ${upTo} SELECT ?, row FROM n`, run.rows, number);
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

/** What was found or made for a run before its rows: ids by need. */
export const readPrepared = (state: State, { number }: StoredRun): ReadonlyMap<string, string> =>
  new Map(
    state.all('SELECT need, id FROM prepared WHERE run = ?', number).map(({ need, id }) => [String(need), String(id)]),
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
