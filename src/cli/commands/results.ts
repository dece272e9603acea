import { verdictExitCodes } from '../failure/errors.ts';
import type { CommandResult, Field } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { thereAreMore } from '../output/words.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** What a change comes to, without the parts that are the same for all. */
export type Outcome = Shown<CommandResult> & {
  /** What was done: `freed build-01`; with `already`, in other words where an earlier request did it. */
  readonly done?: string;
  readonly already?: string;
};

type Shown<Result> = Result extends unknown
  ? Omit<Result, 'idempotencyKey' | 'data'> & { readonly data: Fields }
  : never;

type Identified = Fields & { readonly id: string };

/** One object, with the name that `-q` prints. */
export const namedRecord = (row: Fields, name: string) => ({ kind: 'record', row, data: row, quiet: [name] }) as const;

export const recordOf = (row: Identified) => namedRecord(row, row.id);

/** What a command on this machine has done: to what, in words, and what to do next. */
export const did = (id: string, data: Fields, done: string, ...hints: readonly string[]): CommandResult => ({
  kind: 'done',
  data,
  quiet: [id],
  notes: [{ tone: 'done', text: done }, ...hintsOf(hints)],
});

/** One value, with what is to be said of it. */
export const singleValue = (value: string, data: Fields, notes: readonly Note[] = []): CommandResult => ({
  kind: 'value',
  value,
  data,
  quiet: [value],
  notes,
});

/** `ok`, with what was found, or `broken` with what is wrong; the exit code says the same. */
export function verdictOf(problems: readonly string[], data: Fields, found: string): CommandResult {
  if (problems.length === 0) return singleValue('ok', { verdict: 'ok', ...data }, [{ tone: 'done', text: found }]);
  const broken = singleValue('broken', { verdict: 'broken', ...data }, hintsOf(problems));
  return { ...broken, exitCode: verdictExitCodes.negative };
}

export const hintsOf = (texts: readonly string[]): Note[] => texts.map((text) => ({ tone: 'hint', text }));

/** A list of objects, each of which has a name, such as its id; `empty` is the message when there are none. */
export function listOf<Row extends Fields>(
  rows: readonly Row[],
  empty: string,
  { name = 'id', notes = [] }: { readonly name?: keyof Row & string; readonly notes?: readonly Note[] } = {},
): CommandResult & { readonly kind: 'rows' } {
  return { kind: 'rows', rows, data: rows, quiet: rows.map((row) => String(row[name])), empty, notes };
}

/** A change that has created an object: its id. */
export const created = (answer: Identified, name: string): Outcome => ({
  ...{ kind: 'value', value: answer.id, data: answer, quiet: [answer.id] },
  done: `created ${name}`,
});

/** A change of an object: all of it. */
export const updated = (answer: Identified): Outcome => ({ ...recordOf(answer), done: `updated ${answer.id}` });

/** A change that has made a secret: the one time that it is shown. */
export const issued = (secret: string, answer: Fields, done: string, ...hints: readonly string[]): Outcome => ({
  kind: 'value',
  value: secret,
  data: answer,
  quiet: [secret],
  secrets: [secret],
  secret: true,
  done,
  notes: hintsOf([...hints, 'keep it now: it is not shown again']),
});

/** A change that leaves nothing to show but that it was done, and to what. */
export const doneTo = (id: string, data: Fields, done: string, notes: readonly Note[] = []): Outcome => ({
  kind: 'done',
  data,
  quiet: [id],
  done,
  notes,
});

/** Fields that are not shown in a table, or only by `--fields`. */
export const fieldsShown = (shown: 'data' | 'chosen', ...names: readonly string[]): Field[] =>
  names.map((name) => ({ name, shown }));

/**
 * The first of a list, as many as `limit` says, and whether there are more; all of them without a limit.
 *
 * @param goOn the option with which the rest is asked for, after the last of them
 */
export async function firstOf<Item>(
  walk: (partSize: number) => AsyncIterable<Item>,
  limit: number | undefined,
  goOn?: (last: Item) => string,
): Promise<{ readonly items: readonly Item[]; readonly notes: readonly Note[] }> {
  const found: Item[] = [];
  for await (const item of walk(Math.min((limit ?? MAX_PART) + 1, MAX_PART))) {
    found.push(item);
    if (limit !== undefined && found.length > limit) break;
  }
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (items.length === found.length || last === undefined) return { items, notes: [] };
  return { items, notes: [{ tone: 'hint', text: [thereAreMore(limit), goOn?.(last) ?? []].flat().join(': ') }] };
}

/** The longest part of a list that the service gives. */
const MAX_PART = 1_000;
