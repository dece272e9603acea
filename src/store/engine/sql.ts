/** The identity function, for rows that need no conversion. */
export const identity = <From, To>(value: From): To => value as unknown as To;

/** A value that a column can hold on both engines. */
export type SqlValue = string | number | null;

/** An SQL statement, or a part of a statement: texts, with a value or another part between each two of them. */
export class Sql {
  readonly texts: readonly string[];
  readonly parts: readonly (SqlValue | Sql)[];

  constructor(texts: readonly string[], parts: readonly (SqlValue | Sql)[]) {
    this.texts = texts;
    this.parts = parts;
  }
}

/** SQL as a template: `${…}` is a bound value, or another part of the statement. */
export const sql = (texts: TemplateStringsArray, ...parts: readonly (SqlValue | Sql)[]): Sql => new Sql(texts, parts);

/** Raw text in a statement: a name or a literal, never input of a request. */
export const raw = (text: string): Sql => new Sql([text], []);

/** Joins parts of a statement; at least one. */
export const join = (parts: readonly (SqlValue | Sql)[], separator = ', '): Sql =>
  new Sql(['', ...Array<string>(parts.length - 1).fill(separator), ''], parts);

/** Joins conditions with `and`; at least one. */
export const and = (conditions: readonly Sql[]): Sql => join(conditions, ' and ');

/** The union of queries, for ids unless other columns are named; no rows without a query. */
export const unionOf = (queries: readonly Sql[], columns: readonly string[] = ['id']): Sql =>
  queries.length === 0
    ? raw(`select ${columns.map((column) => `'' as ${column}`).join(', ')} where 1 = 0`)
    : join(queries, ' union all ');

/** The condition that a column has any of the values; false without values. */
export const isAmong = (column: Sql, values: readonly SqlValue[]): Sql =>
  values.length === 0 ? raw('1 = 0') : sql`${column} in (${join(values)})`;

/** Returns the text of a statement, with `place(n)` for its nth value, and appends the values to `values`. */
export function write(statement: Sql, place: (position: number) => string, values: SqlValue[] = []): string {
  const { texts, parts } = statement;
  let text = texts[0] as string;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] as SqlValue | Sql;
    if (part instanceof Sql) text += write(part, place, values);
    else text += place(values.push(checked(part)));
    text += texts[at + 1];
  }
  return text;
}

function checked(value: SqlValue): SqlValue {
  // PostgreSQL would bind undefined as null.
  if (value === undefined) throw new TypeError('a value of a statement is undefined');
  return value;
}

/** The most cached statements; callers combine filters and changed fields freely, so the cache is cleared when full. */
const MAX_STATEMENTS = 1_000;

const isPart = (part: SqlValue | Sql): part is Sql => part instanceof Sql;

/**
 * Returns a function that finds or makes the prepared form of a statement, and lists the values of this call. `prepare` is called
 * once per template, or once per text for a statement that has parts.
 */
export function prepareOnce<T>(prepare: (statement: Sql) => T) {
  const known = new Map<string | readonly string[], T>();
  return (statement: Sql): readonly [prepared: T, values: readonly SqlValue[]] => {
    const { texts, parts } = statement;
    const collected: SqlValue[] = [];
    const hasParts = parts.some(isPart);
    const name = hasParts ? write(statement, () => '?', collected) : texts;
    let prepared = known.get(name);
    if (prepared === undefined) {
      if (known.size === MAX_STATEMENTS) known.clear();
      prepared = prepare(statement);
      known.set(name, prepared);
    }
    return [prepared, hasParts ? collected : (parts as readonly SqlValue[]).map(checked)];
  };
}
