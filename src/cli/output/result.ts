import { UsageError } from '../failure/errors.ts';
import type { Format } from '../global-options.ts';
import { type Note, type Paint, sanitise } from './terminal.ts';
import { EMPTY_CELL } from './words.ts';

export interface View {
  readonly columns: number;
  readonly now: number;
  readonly paint: Paint;
}

/** A field of a result: a column, a property, a name for `--fields`. */
export interface Field<Row = Record<string, unknown>> {
  readonly name: string;
  readonly label?: string;
  of?(row: Row): unknown;
  show?(value: unknown, now: number, row: Row): string;
  readonly isNumber?: boolean;
  /** Color on a terminal; the text says the same without it. */
  color?(value: unknown): keyof Paint | null;
  /** Whether it may be cut in a narrow table; identifiers are never cut. */
  readonly cuts?: boolean;
  /** Whether it may be left out of a narrow table; 1 goes first. */
  readonly drops?: number;
  /** May be broken between words when a table is too wide, and goes on in the next line. */
  readonly wraps?: boolean;
  /** Shown in place of the whole value, rather than leaving it out at its turn of `drops`. */
  brief?(value: unknown): string;
  /** Only in a `table`, only in other formats (`data`), or only with `--fields` (`chosen`); default everywhere. */
  readonly shown?: 'table' | 'data' | 'chosen';
}

interface Common {
  readonly data: unknown;
  /** The identifiers that `-q` prints. */
  readonly quiet: readonly string[];
  readonly notes?: readonly Note[];
  /** Any number: a command behind `serve --` has its own exit code. */
  readonly exitCode?: number;
  readonly secret?: boolean;
  /** Keys and tokens that the log of a CI job must not show. */
  readonly secrets?: readonly string[];
  /** The idempotency key of the change: the same command with it prints the result again. */
  readonly idempotencyKey?: string;
  /** How to get the result of several changes again, if it cannot be written. */
  readonly repeatHint?: string;
  /** The default file and its format; `-o` overrides them. */
  readonly file?: { readonly path: string; readonly format: Format } | null;
  /** Called with the SHA-256 of the text before the file of `-o` gets its name. */
  readonly beforeFile?: (digest: string) => void;
  /** Runs after the result is printed; then the command ends. */
  readonly afterwards?: () => Promise<void>;
}

type Draw = (view: View) => string | Promise<string>;

export interface Part<Row = Record<string, unknown>> {
  readonly fields: readonly Field<Row>[];
  readonly rows: readonly Row[];
}

/** The result of a command; `write.ts` decides how it is printed. */
export type CommandResult =
  /** One bare value. */
  | (Common & { readonly kind: 'value'; readonly value: string; readonly data: Record<string, unknown> })
  /** One object, in a table a line per field. */
  | (Common & { readonly kind: 'record'; readonly row: Row; readonly parts?: readonly Part[]; readonly draw?: Draw })
  /** `empty` is the message for an empty list. */
  | (Common & {
      readonly kind: 'rows';
      readonly rows: readonly Row[];
      readonly empty: string;
      /** Default: the fields of the command. */
      readonly fields?: readonly Field[];
      readonly draw?: Draw;
    })
  | (Common & { readonly kind: 'file'; readonly content: string })
  /** A text; `rows` are its objects for csv and `--fields`. */
  | (Common & { readonly kind: 'text'; readonly draw: Draw; readonly rows?: readonly Row[] })
  /** Objects from a command that `streams`; ends with the generator, a signal, or the reader. */
  | (Common & {
      readonly kind: 'stream';
      readonly stream: AsyncIterable<readonly Row[]>;
      quietOf(row: Row): string;
      /** The line on a terminal; default, and with chosen fields: tabs. */
      lineOf?(row: Row, view: View): Promise<string>;
    })
  /** A document of any length. */
  | (Common & { readonly kind: 'chunks'; readonly chunks: AsyncIterable<string> })
  | (Common & { readonly kind: 'done' });

export type WholeResult = Exclude<CommandResult, { kind: 'stream' | 'chunks' }>;

type Row = Record<string, unknown>;

/** Throws `UsageError` for an unknown field. */
export function chooseFields(names: readonly string[], fields: readonly Field[]): readonly Field[] {
  return names.map((name) => {
    const field = fields.find((one) => one.name === name);
    if (field) return field;
    const known = fields.map((one) => one.name).join(', ');
    throw new UsageError(`there is no field '${name}'`, [known === '' ? 'This command has none.' : `Fields: ${known}`]);
  });
}

/** The last field of each name; for an unknown name, the property of a row. */
export const fieldsNamed = (names: readonly string[], fields: readonly Field[]): readonly Field[] =>
  names.map((name) => fields.findLast((field) => field.name === name) ?? { name });

export const cellValue = (field: Field, row: Row): unknown => (field.of ? field.of(row) : row[field.name]);

export function shownCell(field: Field, row: Row, now: number): string {
  const value = cellValue(field, row);
  if (value === undefined) return EMPTY_CELL;
  if (field.show) return sanitise(field.show(value, now, row));
  return value === null || value === '' ? EMPTY_CELL : sanitise(plainText(value));
}

/** A value for a pipe: not shortened, null empty. */
export const rawCell = (field: Field, row: Row): string => sanitise(plainText(cellValue(field, row)));

export function plainText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
