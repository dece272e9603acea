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

/** Writes a statement out. `place` stands for the value of a position, from 1 on. */
export function write(statement: Sql, place: (position: number) => string): string {
  let position = 0;
  const textOf = ({ texts, parts }: Sql): string =>
    parts.reduce<string>((text, part, at) => {
      if (part instanceof Sql) return text + textOf(part) + texts[at + 1];
      position += 1;
      return text + place(position) + texts[at + 1];
    }, texts[0] ?? '');
  return textOf(statement);
}

/** The values of a statement, in the order of their places. */
function valuesOf({ parts }: Sql): SqlValue[] {
  return parts.flatMap((part) => {
    // PostgreSQL would take it for null.
    if (part === undefined) throw new TypeError('a value of a statement is undefined');
    return part instanceof Sql ? valuesOf(part) : [part];
  });
}

/** Callers choose the filters of lists and what is changed together: when there are more statements, all are forgotten. */
const MAX_STATEMENTS = 1_000;

/**
 * Makes a function that returns what `prepare` has made of a statement, with the values of a call: `prepare` is called once
 * for each template, or for each text where a statement has parts.
 */
export function prepareOnce<T>(prepare: (statement: Sql) => T) {
  const known = new Map<string | readonly string[], T>();
  return (statement: Sql): readonly [prepared: T, values: SqlValue[]] => {
    const values = valuesOf(statement);
    const hasParts = statement.parts.some((part) => part instanceof Sql);
    const name = hasParts ? write(statement, () => '?') : statement.texts;
    let prepared = known.get(name);
    if (prepared === undefined) {
      if (known.size === MAX_STATEMENTS) known.clear();
      prepared = prepare(statement);
      known.set(name, prepared);
    }
    return [prepared, values];
  };
}
