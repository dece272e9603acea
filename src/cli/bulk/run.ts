import { createHash } from 'node:crypto';
import { z } from 'zod';
import { formats } from '../config/settings.ts';
import type { RunRows } from '../state/rows.ts';
import type { StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import type { BulkOperation } from './operation.ts';

/** A bulk run: stored once, before its first request. */
export const Run = z.object({
  /** See `runId`. */
  id: z.string().regex(/^[0-9a-z]{12}$/),
  /** From `--run`; null when the digest identifies it. */
  name: z.string().nullable(),
  /** The command whose rows they are: `keys create`. */
  command: z.string(),
  /** The service or database, without a password. */
  origin: z.string(),
  /** SHA-256 of the options, and of the content of the file or the number of rows. */
  digest: z.string(),
  /** Where the rows came from: the name of a file; null for `--count`. */
  file: z.string().nullable(),
  /** Options of the command that hold for every row, such as `ifAbsent`. */
  mode: z.record(z.string(), z.boolean()),
  rows: z.int().positive(),
  /** The file of `-o` of the first command, and its format; `jobs resume` writes it too. */
  output: z
    .object({ path: z.string(), format: z.enum(formats) })
    .nullable()
    .default(null),
  /** SHA-256 of the options and the product; absent for `--count`. */
  scope: z.string().optional(),
  /** SHA-256 of the rows as the file has them, whatever its form; absent where `scope` is. */
  rowsDigest: z.string().optional(),
  createdAt: z.string(),
  /** The body of every row of `--count`; null when each row has its own. */
  body: z.record(z.string(), z.unknown()).nullable(),
});
export type Run = z.output<typeof Run>;

/** A run that is written down, with its rows and what its command does. */
export interface OpenedRun extends StoredRun {
  readonly state: State;
  readonly rows: RunRows;
  readonly operation: BulkOperation;
}

/** The id of a run. One with a name is the same run whatever its rows are; the caller compares the digests. */
export const runId = ({ command, origin, name, digest }: Pick<Run, 'command' | 'origin' | 'name' | 'digest'>): string =>
  short(hash([command, origin, name === null ? ['digest', digest] : ['name', name]]));

/**
 * The idempotency key of a row, the same in every process that sends it, wherever its journal is. `attempt` is 1, and
 * more for a row that was sent anew after a refusal.
 */
export const rowKey = (id: string, row: number, attempt: number): string =>
  `lkm-${id}-${row}-${short(hash([id, row, attempt]))}${attempt === 1 ? '' : `-${attempt}`}`;

/** The idempotency key of something that a run makes before its rows, by what it is. */
export const preparationKey = (id: string, made: readonly string[]): string =>
  `lkm-${id}-${short(hash([id, ...made]))}`;

/** SHA-256 of a value as JSON, hexadecimal. */
export const hash = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** 60 bits of a hash, without letters that look alike. */
const short = (hex: string): string =>
  [...Buffer.from(hex.slice(0, 24), 'hex')].map((byte) => ALPHABET.charAt(byte % 32)).join('');

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
