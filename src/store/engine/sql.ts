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

/** A statement as an engine takes it. The same text is prepared once. */
export interface CompiledSql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Writes a statement out. `place` stands for the value of a position, from 1 on. */
export function compile(statement: Sql, place: (position: number) => string): CompiledSql {
  const values: SqlValue[] = [];
  const write = ({ texts, parts }: Sql): string => {
    let text = texts[0] ?? '';
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at] as SqlValue | Sql;
      text += (part instanceof Sql ? write(part) : bind(part)) + texts[at + 1];
    }
    return text;
  };
  const bind = (value: SqlValue): string => {
    // PostgreSQL would take it for null.
    if (value === undefined) throw new TypeError('a value of a statement is undefined');
    values.push(value);
    return place(values.length);
  };
  return { text: write(statement), values };
}
