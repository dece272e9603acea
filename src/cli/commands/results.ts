import { verdictExitCodes } from '../failure/errors.ts';
import type { CommandResult, Field } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { thereAreMore } from '../output/words.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The result of a change; `changeCommand` adds the common parts. */
export type Outcome = Shown<CommandResult> & {
  /** `freed build-01`; `already` replaces it if an earlier request did it. */
  readonly done?: string;
  readonly already?: string;
};

type Shown<Result> = Result extends unknown
  ? Omit<Result, 'idempotencyKey' | 'data'> & { readonly data: Fields }
  : never;

type Identified = Fields & { readonly id: string };

/** One object; `-q` prints the name. */
export const namedRecord = (row: Fields, name: string) => ({ kind: 'record', row, data: row, quiet: [name] }) as const;

export const recordOf = (row: Identified) => namedRecord(row, row.id);

/** The result of a change on this machine. */
export const did = (id: string, data: Fields, done: string, ...hints: readonly string[]): CommandResult => ({
  kind: 'done',
  data,
  quiet: [id],
  notes: [{ tone: 'done', text: done }, ...hintsOf(hints)],
});

export const singleValue = (value: string, data: Fields, notes: readonly Note[] = []): CommandResult => ({
  kind: 'value',
  value,
  data,
  quiet: [value],
  notes,
});

/** `ok` or `broken` with the problems; sets the exit code. */
export function verdictOf(problems: readonly string[], data: Fields, found: string): CommandResult {
  if (problems.length === 0) return singleValue('ok', { verdict: 'ok', ...data }, [{ tone: 'done', text: found }]);
  const broken = singleValue('broken', { verdict: 'broken', ...data }, hintsOf(problems));
  return { ...broken, exitCode: verdictExitCodes.negative };
}

export const hintsOf = (texts: readonly string[]): Note[] => texts.map((text) => ({ tone: 'hint', text }));

/** A list of objects; `-q` prints the names, `empty` is the message for an empty list. */
export function listOf<Row extends Fields>(
  rows: readonly Row[],
  empty: string,
  { name = 'id', notes = [] }: { readonly name?: keyof Row & string; readonly notes?: readonly Note[] } = {},
): CommandResult & { readonly kind: 'rows' } {
  return { kind: 'rows', rows, data: rows, quiet: rows.map((row) => String(row[name])), empty, notes };
}

/** Prints the id of the created object. */
export const created = (answer: Identified, name: string): Outcome => ({
  ...{ kind: 'value', value: answer.id, data: answer, quiet: [answer.id] },
  done: `created ${name}`,
});

export const updated = (answer: Identified): Outcome => ({ ...recordOf(answer), done: `updated ${answer.id}` });

/** A key or a token, which the log of a CI job does not show. */
export const secretValue = (secret: string, data: Fields) =>
  ({ kind: 'value', value: secret, data, quiet: [secret], secrets: [secret], secret: true }) as const;

/** Prints a secret, which is shown only this once. */
export const issued = (secret: string, answer: Fields, done: string, ...hints: readonly string[]): Outcome => ({
  ...secretValue(secret, answer),
  done,
  notes: hintsOf([...hints, 'keep it now: it is not shown again']),
});

/** A change with a message as its only output. */
export const doneTo = (id: string, data: Fields, done: string, notes: readonly Note[] = []): Outcome => ({
  kind: 'done',
  data,
  quiet: [id],
  done,
  notes,
});

export const fieldsShown = (shown: 'data' | 'chosen', ...names: readonly string[]): Field[] =>
  names.map((name) => ({ name, shown }));

/** The first items, up to `limit`, and a note if there are more; without a limit all items. */
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

/** The largest part of a list that the service returns. */
const MAX_PART = 1_000;

/** Leaves out undefined fields. */
export const defined = <T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields;
