import { z } from 'zod';
import { formats } from '../config/settings.ts';
import { LocalError, NotFoundError } from '../failure/errors.ts';
import type { State } from './state.ts';

/** A bulk run: stored once, before its first request. */
export const Run = z.object({
  id: z.string().regex(/^[0-9a-z]{12}$/),
  name: z.string().nullable(),
  command: z.string(),
  /** The service or database, without a password. */
  origin: z.string(),
  /** SHA-256 of the options, and of the content of the file or the number of rows. */
  digest: z.string(),
  /** Where the rows came from: the name of a file; null for `--count`. */
  file: z.string().nullable(),
  mode: z.record(z.string(), z.boolean()),
  rows: z.int().positive(),
  /** The file of `-o` of the first command, and its format; `jobs resume` writes it too. */
  output: z
    .object({ path: z.string(), format: z.enum(formats) })
    .nullable()
    .default(null),
  /** SHA-256 of the options and the product; absent for `--count`. */
  scope: z.string().optional(),
  /** SHA-256 of the rows as the file has them, whatever its form; absent where `scope` is. */
  rowsDigest: z.string().optional(),
  createdAt: z.string(),
  /** The body of every row of `--count`; null when each row has its own. */
  body: z.record(z.string(), z.unknown()).nullable(),
});
export type Run = z.output<typeof Run>;

export interface StoredRun {
  readonly run: Run;
  readonly number: number;
}

/** Every run, oldest first. */
export const listRuns = (state: State): readonly StoredRun[] =>
  state.all<DescribedRun>('SELECT number, id, description FROM run ORDER BY number').map(storedRun);

export const readRun = (state: State, id: string): StoredRun | null =>
  state.all<DescribedRun>('SELECT number, id, description FROM run WHERE id = ?', id).map(storedRun)[0] ?? null;

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

interface DescribedRun {
  readonly number: number;
  readonly id: string;
  readonly description: string;
}

function storedRun({ number, id, description }: DescribedRun): StoredRun {
  const { data: run, error } = Run.safeParse(JSON.parse(description));
  if (run === undefined) throw new LocalError(`this version of lkm cannot read run ${id}`, [], { cause: error });
  return { run, number };
}

/** Keeps rows aside while a file is read; they are gone with the process unless a run is made of them. */
export function keepAside(state: State): (row: { readonly line: number | null; readonly body: unknown }) => void {
  state.run('DROP TABLE IF EXISTS temp.aside');
  state.run('CREATE TEMP TABLE aside (row INTEGER PRIMARY KEY, line INTEGER, body TEXT NOT NULL) STRICT');
  state.all('PRAGMA temp.journal_mode = OFF');
  return ({ line, body }) => state.run('INSERT INTO temp.aside (line, body) VALUES (?, ?)', line, JSON.stringify(body));
}

/** Makes a run of the rows that were kept aside, or of rows of one body; another process may have made it meanwhile. */
export function createRun(state: State, run: Run): StoredRun {
  return state.transaction(() => {
    const meanwhile = readRun(state, run.id);
    if (meanwhile !== null) return meanwhile;
    const number = state.run('INSERT INTO run (id, description) VALUES (?, ?)', run.id, JSON.stringify(run));
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
