/** Returns what it is given: a conversion where nothing is to be converted. */
export const asItIs = <From, To>(value: From): To => value as unknown as To;

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

/** What a map has under a key; it is made the first time. */
export function once<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

// What is made below has the same array of texts each time, as a template has: a statement is known again by these.
const rawTexts = new Map<string, readonly string[]>();
const joinTexts = new Map<string, (readonly string[])[]>();

/** Text that stands in a statement as it is: a name, or a literal. It is never made from what somebody has sent. */
export const raw = (text: string): Sql =>
  new Sql(
    once(rawTexts, text, () => [text]),
    [],
  );

/** Parts of a statement in a row; at least one. */
export function join(parts: readonly (SqlValue | Sql)[], separator = ', '): Sql {
  const { length } = parts;
  const byLength = once(joinTexts, separator, () => []);
  byLength[length] ??= ['', ...Array<string>(length - 1).fill(separator), ''];
  return new Sql(byLength[length], parts);
}

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

/** A step in what is known of statements: where it goes on after a value, after all values of a part, or with the texts of one. */
interface Step<T> {
  value?: Step<T>;
  allValues?: Step<T>;
  readonly parts: Map<readonly string[], Step<T>>;
  prepared?: T;
}

const isPart = (part: SqlValue | Sql): part is Sql => part instanceof Sql;

function checked(value: SqlValue): SqlValue {
  // PostgreSQL would take it for null.
  if (value === undefined) throw new TypeError('a value of a statement is undefined');
  return value;
}

/** Callers choose the filters of lists and what is changed together: when there are more statements, all are forgotten. */
const MAX_STATEMENTS = 1_000;

/**
 * Finds what `prepare` has made of a statement: it is called once for each, and no text is put together again. Returns that
 * with the values of a call, in order.
 */
export function prepareOnce<T>(prepare: (statement: Sql) => T) {
  const newStep = (): Step<T> => ({ parts: new Map() });
  let start = newStep();
  let known = 0;

  function follow(from: Step<T>, { texts, parts }: Sql, values: SqlValue[]): Step<T> {
    let step = once(from.parts, texts, newStep);
    if (!parts.some(isPart)) {
      for (const part of parts) values.push(checked(part as SqlValue));
      step.allValues ??= newStep();
      return step.allValues;
    }
    for (const part of parts) {
      if (part instanceof Sql) {
        step = follow(step, part, values);
      } else {
        values.push(checked(part));
        step.value ??= newStep();
        step = step.value;
      }
    }
    return step;
  }

  return (statement: Sql): readonly [prepared: T, values: SqlValue[]] => {
    const values: SqlValue[] = [];
    const step = follow(start, statement, values);
    if (step.prepared === undefined) {
      step.prepared = prepare(statement);
      known += 1;
      if (known > MAX_STATEMENTS) {
        start = newStep();
        known = 0;
      }
    }
    return [step.prepared, values];
  };
}
