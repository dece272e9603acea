import type { ExitCode } from '../failure/exit-codes.ts';
import type { View } from './view.ts';

/** A field of an answer by the API's own name: a column, a property, what `--fields` may name. */
export interface Field<Row = Record<string, unknown>> {
  readonly name: string;
  /** How a terminal calls it; the name unless given. */
  readonly label?: string;
  /** Its value in an answer; the property of that name unless given. */
  readonly of?: (row: Row) => unknown;
  /** How a terminal shows the value. */
  readonly show?: (value: unknown, now: number, row: Row) => string;
  /** May be cut when a table is too wide; identifiers never are. */
  readonly cuts?: boolean;
  /** Always, unless given. `table`: only there; `data`: not there; `chosen`: only when `--fields` names it. */
  readonly shown?: 'table' | 'data' | 'chosen';
}

/** What is said on stderr once the answer is out. */
export interface Note {
  readonly tone: 'done' | 'hint' | 'warning';
  readonly text: string;
}

/** What every outcome carries. */
interface Answer {
  /** What `--json` prints, in the API's own names. */
  readonly data: unknown;
  /** What `-q` prints: bare identifiers. */
  readonly quiet: readonly string[];
  readonly notes?: readonly Note[];
  readonly exitCode?: ExitCode;
  /** Whether a file that holds the answer is for its owner only. */
  readonly secret?: boolean;
  /** Of the change that gave the answer: repeats it. */
  readonly idempotencyKey?: string;
  /** Runs once the answer is out; the command ends with it. */
  readonly afterwards?: () => Promise<void>;
}

/** A table below a record. */
export interface Part<Row = Record<string, unknown>> {
  readonly fields: readonly Field<Row>[];
  readonly rows: readonly Row[];
}

/** What a command answers; the writer alone decides how it looks. */
export type CommandResult =
  /** One value, printed bare, the same with and without a terminal. */
  | (Answer & { readonly kind: 'value'; readonly value: string })
  /** One thing. */
  | (Answer & { readonly kind: 'record'; readonly row: Record<string, unknown>; readonly parts?: readonly Part[] })
  /** Many things. */
  | (Answer & { readonly kind: 'rows'; readonly rows: readonly Record<string, unknown>[]; readonly empty: string })
  /** A document; `-o` names the file it becomes. */
  | (Answer & { readonly kind: 'file'; readonly content: string })
  /** A text of its own. */
  | (Answer & { readonly kind: 'page'; readonly page: (view: View) => string | Promise<string> })
  /** No answer beyond success. */
  | (Answer & { readonly kind: 'done' });
