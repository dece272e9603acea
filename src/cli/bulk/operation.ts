import type { z } from 'zod';
import type { Client } from '../../client/client.ts';
import type { CallOptions } from '../../client/options.ts';
import type { Field } from '../output/result.ts';
import type { Preparation } from './preparation.ts';
import type { Columns } from './reading/columns.ts';

/** What became of a row: a word for it, and what the results show of it. */
export interface Outcome {
  readonly status: string;
  readonly result: Readonly<Record<string, unknown>>;
}

/** Options of the command that hold for every row: `ifAbsent`. */
export type Mode = Readonly<Record<string, boolean>>;

/** What a bulk command does with each row of a file. */
export interface BulkOperation {
  /** Its words: `keys create`. */
  readonly command: string;
  /** What has been done, and to what: `created`, `key`. */
  readonly done: string;
  readonly noun: string;
  readonly columns: Columns;
  /** The body of its request. */
  readonly schema: z.ZodType;
  /** What rows refer to, and a run makes before them where it is not there. */
  readonly preparation?: Preparation;
  /** A body as the cells have it, in the form in which it is kept. */
  arrange(body: Record<string, unknown>): Record<string, unknown>;
  /** The same as `schema` can check it, where something is still to be found. */
  checked(body: Record<string, unknown>): Record<string, unknown>;
  /** Whether sending a row twice does no more than sending it once, also when the service has forgotten the first time. */
  readonly repeatsSafely: boolean;
  /** Whether the service refuses to do a row once more, in whatever run. */
  refusesAgain(body: Readonly<Record<string, unknown>>): boolean;
  /** What the results show besides number, status and error. */
  readonly fields: readonly Field[];
  /** What names a row in the results, from its body. */
  name(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Sends one row. Rejects as the client does. */
  send(client: Client, body: unknown, mode: Mode, call: CallOptions): Promise<Outcome>;
}

type Optional = 'repeatsSafely' | 'refusesAgain' | 'arrange' | 'checked';

interface Spec<S extends z.ZodType>
  extends Omit<BulkOperation, 'schema' | 'send' | Optional>,
    Partial<Pick<BulkOperation, Optional>> {
  readonly schema: S;
  send(client: Client, input: z.output<S>, mode: Mode, call: CallOptions): Promise<Outcome>;
}

/** Declares a bulk operation; the type of its input follows from its schema. */
export const bulkOperation = <S extends z.ZodType>(spec: Spec<S>): BulkOperation => ({
  repeatsSafely: false,
  refusesAgain: () => false,
  arrange: (body) => body,
  checked: (body) => body,
  ...spec,
  send: (client, body, mode, call) => spec.send(client, spec.schema.parse(body), mode, call),
});
