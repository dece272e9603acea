import { UsageError } from '../failure/errors.ts';
import type { Format } from '../global-options.ts';
import { type Note, type Paint, sanitise } from './terminal.ts';
import { nothing } from './words.ts';

export interface View {
  readonly columns: number;
  readonly now: number;
  readonly paint: Paint;
}

/** A field of a result by the API's own name: a column, a property, what `--fields` may name. */
export interface Field<Row = Record<string, unknown>> {
  readonly name: string;
  readonly label?: string;
  of?(row: Row): unknown;
  show?(value: unknown, now: number, row: Row): string;
  readonly isNumber?: boolean;
  /** The color of what a terminal shows, which says the same without it. */
  color?(value: unknown): keyof Paint | null;
  /** May be cut when a table is too wide; identifiers never are. */
  readonly cuts?: boolean;
  /** May be left out of a table that is too wide; 1 goes first. */
  readonly drops?: number;
  /** Only in a `table`, only elsewhere (`data`), or only when `--fields` names it (`chosen`); everywhere unless given. */
  readonly shown?: 'table' | 'data' | 'chosen';
}

interface Common {
  readonly data: unknown;
  /** What `-q` prints: bare identifiers. */
  readonly quiet: readonly string[];
  readonly notes?: readonly Note[];
  /** That of a program that the command ran can be any. */
  readonly exitCode?: number;
  readonly secret?: boolean;
  /** Keys and tokens in it, which the log of a CI job must not show. */
  readonly secrets?: readonly string[];
  /** The key of the change; the same command with this key prints the result again. */
  readonly idempotencyKey?: string;
  /** The file that it goes into, and its format, unless `-o` says otherwise. */
  readonly file?: { readonly path: string; readonly format: Format } | null;
  /** Called with the text of the result before it goes into the file of `-o`. */
  readonly beforeFile?: (text: string) => Promise<void>;
  /** Runs once the result is printed; the command ends with it. */
  readonly afterwards?: () => Promise<void>;
}

type Draw = (view: View) => string | Promise<string>;

export interface Part<Row = Record<string, unknown>> {
  readonly fields: readonly Field<Row>[];
  readonly rows: readonly Row[];
}

/** What a command returns; the writer alone decides how it looks. */
export type CommandResult =
  /** One value, printed bare, the same with and without a terminal. */
  | (Common & { readonly kind: 'value'; readonly value: string; readonly data: Record<string, unknown> })
  /** One object, a line per field in a table. */
  | (Common & { readonly kind: 'record'; readonly row: Row; readonly parts?: readonly Part[]; readonly draw?: Draw })
  /** A list of objects; `empty` is the message when there are none. */
  | (Common & {
      readonly kind: 'rows';
      readonly rows: readonly Row[];
      readonly empty: string;
      /** Where they are not those of the command. */
      readonly fields?: readonly Field[];
      readonly draw?: Draw;
    })
  | (Common & { readonly kind: 'file'; readonly content: string })
  /** A text that the command renders itself; `rows` is what csv, env and `--fields` show of it. */
  | (Common & { readonly kind: 'text'; readonly draw: Draw; readonly rows?: readonly Row[] })
  /** Objects as they come, of a command that `streams`; it ends with them, with a signal, or when nobody reads. */
  | (Common & {
      readonly kind: 'stream';
      readonly stream: AsyncIterable<readonly Row[]>;
      quietOf(row: Row): string;
      /** The line that a terminal shows of it; unless given, or where its fields are chosen, it is one of tabs. */
      lineOf?(row: Row, view: View): Promise<string>;
    })
  /** A document of any length, as it comes; `-o` names the file it becomes. */
  | (Common & { readonly kind: 'chunks'; readonly chunks: AsyncIterable<string> })
  | (Common & { readonly kind: 'done' });

export type WholeResult = Exclude<CommandResult, { kind: 'stream' | 'chunks' }>;

type Row = Record<string, unknown>;

/** The fields that `--fields` names, in its order. Throws `UsageError`. */
export function chooseFields(names: readonly string[], fields: readonly Field[]): readonly Field[] {
  return names.map((name) => {
    const field = fields.find((one) => one.name === name);
    if (field) return field;
    const known = fields.map((one) => one.name).join(', ');
    throw new UsageError(`there is no field '${name}'`, [known === '' ? 'This command has none.' : `Fields: ${known}`]);
  });
}

export const cellValue = (field: Field, row: Row): unknown => (field.of ? field.of(row) : row[field.name]);

/** A value as a terminal shows it. */
export function shownCell(field: Field, row: Row, now: number): string {
  const value = cellValue(field, row);
  if (value === undefined) return nothing;
  if (field.show) return sanitise(field.show(value, now, row));
  return value === null || value === '' ? nothing : sanitise(plainText(value));
}

/** A value as a pipe carries it: nothing cut or rounded, null empty. */
export const rawCell = (field: Field, row: Row): string => sanitise(plainText(cellValue(field, row)));

function plainText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
