import type { ValuesOf } from '../command.ts';
import type { Note } from '../output/terminal.ts';
import type { Body, Mode } from './operation.ts';
import type { bulkOptions, systemOptions } from './options.ts';

export type ForeignFiles = ValuesOf<typeof systemOptions>;

/** The options of a bulk command, and the values for all rows. */
export interface BulkRequest extends Partial<ValuesOf<typeof bulkOptions>> {
  readonly count?: number | undefined;
  /** Only of a command whose rows may be keys of another system. */
  readonly foreign?: ForeignFiles;
  readonly restart?: boolean;
  readonly idempotencyKey?: string | undefined;
  readonly defaults: Body;
  readonly mode?: Mode;
  /** Asks whether a new run may begin; nothing is sent unless it resolves. */
  confirm?(rows: number): Promise<void>;
  notesOn?(bodies: readonly Body[]): readonly Note[];
  /** Called when the results are written, with the keys or ids of the rows that were done. */
  whenWritten?(ids: readonly string[]): Promise<void>;
}
