/** Returns what it is given: a conversion where nothing is to be converted. */
export const identity = <From, To>(value: From): To => value as unknown as To;

/** A value that a column can hold on both engines. */
export type SqlValue = string | number | null;

/** A statement of SQL, or a part of one: pieces of text, and between each two of them a value or another part. */
export class Sql {
  readonly texts: readonly string[];
  readonly parts: readonly (SqlValue | Sql)[];

  constructor(texts: readonly string[], parts: readonly (SqlValue | Sql)[]) {
    this.texts = texts;
    this.parts = parts;
  }
}

/** SQL as a template: `${…}` in it is a value, which is sent apart from the text, or another part of the statement. */
export const sql = (texts: TemplateStringsArray, ...parts: readonly (SqlValue | Sql)[]): Sql => new Sql(texts, parts);

/** Text that stands in a statement as it is: a name, or a literal. It is never made from what somebody has sent. */
export const raw = (text: string): Sql => new Sql([text], []);

/** Parts of a statement in a row; at least one. */
export const join = (parts: readonly (SqlValue | Sql)[], separator = ', '): Sql =>
  new Sql(['', ...Array<string>(parts.length - 1).fill(separator), ''], parts);

/** Conditions that are all to be met; at least one. */
export const and = (conditions: readonly Sql[]): Sql => join(conditions, ' and ');

/** All rows of some queries, for ids unless other columns are named; of no queries, no rows. */
export const unionOf = (queries: readonly Sql[], columns: readonly string[] = ['id']): Sql =>
  queries.length === 0
    ? raw(`select ${columns.map((column) => `'' as ${column}`).join(', ')} where 1 = 0`)
    : join(queries, ' union all ');

/** Whether a column has one of some values; none has one of no values. */
export const isAmong = (column: Sql, values: readonly SqlValue[]): Sql =>
  values.length === 0 ? raw('1 = 0') : sql`${column} in (${join(values)})`;

/** Writes a statement out. `place` stands for the value of a position, from 1 on. Collects the values in their order. */
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
  // PostgreSQL would take it for null.
  if (value === undefined) throw new TypeError('a value of a statement is undefined');
  return value;
}

/** Callers choose the filters of lists and what is changed together: when there are more statements, all are forgotten. */
const MAX_STATEMENTS = 1_000;

const isPart = (part: SqlValue | Sql): part is Sql => part instanceof Sql;

/**
 * Makes a function that returns what `prepare` has made of a statement, with the values of a call. `prepare` is called once
 * for each template, and for each text of statements that have parts.
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
