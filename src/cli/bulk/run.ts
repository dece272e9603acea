import { hash as digestOf } from 'node:crypto';
import type { openRun } from '../state/open-run.ts';
import type { Run } from '../state/runs.ts';
import type { BulkOperation } from './operation.ts';

export type BulkRun = ReturnType<typeof openRun<BulkOperation>>;

/** The id of a run. One with a name is the same run whatever its rows are; the caller compares the digests. */
export const runId = ({ command, origin, name, digest }: Pick<Run, 'command' | 'origin' | 'name' | 'digest'>): string =>
  short(hash([command, origin, name === null ? ['digest', digest] : ['name', name]]));

/** The idempotency key of a row, the same wherever it is sent. `attempt` is more than 1 for a row that was sent anew. */
export const rowKey = (id: string, row: number, attempt: number): string =>
  `lkm-${id}-${row}-${short(hash([id, row, attempt]))}${attempt === 1 ? '' : `-${attempt}`}`;

/** The idempotency key of something that a run makes before its rows, by what it is. */
export const preparationKey = (id: string, made: readonly string[]): string =>
  `lkm-${id}-${short(hash([id, ...made]))}`;

export const hash = (value: unknown): string => digestOf('sha256', JSON.stringify(value));

/** 60 bits of a hash, without letters that look alike. */
const short = (hex: string): string =>
  [...Buffer.from(hex.slice(0, 24), 'hex')].map((byte) => ALPHABET.charAt(byte % 32)).join('');

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
