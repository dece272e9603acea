import type { Note } from '../output/terminal.ts';
import type { DateFormat } from '../values/date-format.ts';
import type { Body, Mode } from './operation.ts';
import type { SystemName } from './reading/presets/systems.ts';
import type { Writing } from './reading/read-file.ts';

export interface ForeignFiles {
  readonly from: SystemName | undefined;
  /** Files of devices that belong to the keys of the rows. */
  readonly deviceFiles: readonly string[] | undefined;
  readonly productMap: readonly (readonly [old: string, productId: string])[] | undefined;
  /** Whether keys of tests are taken too. */
  readonly testKeys: boolean;
}

export interface BulkRequest extends Writing {
  readonly file: string | readonly string[] | undefined;
  readonly count?: number | undefined;
  readonly map: readonly (readonly [column: string, field: string])[] | undefined;
  readonly dateFormat: DateFormat | undefined;
  /** What stands for no date. */
  readonly noDate: readonly string[] | undefined;
  /** Whether rows that cannot be sent are left out; else one of them stops the file. */
  readonly skipInvalid: boolean;
  readonly ignoreUnknown?: boolean;
  readonly saveMap?: string | undefined;
  readonly mapFrom?: string | undefined;
  /** Of a command whose rows may be keys of another system. */
  readonly foreign?: ForeignFiles;
  readonly concurrency: number | undefined;
  readonly run: string | undefined;
  /** Sends a run again that was begun too long ago to be repeated. */
  readonly restart?: boolean;
  readonly idempotencyKey: string | undefined;
  readonly defaults: Body;
  readonly mode?: Mode;
  /** Asks whether a run that is new may begin; nothing is sent unless it resolves. */
  confirm?(rows: number): Promise<void>;
  /** Notes about the rows that were sent. */
  notesOn?(bodies: readonly Body[]): readonly Note[];
  /** Called when the results are written, with the keys or ids of the rows that were done. */
  whenWritten?(ids: readonly string[]): Promise<void>;
}
