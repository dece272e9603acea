import { StartupError } from '../../startup-error.ts';

export const fileHint = 'give another file with --db';

/** By primary result code (sqlite.org/rescode.html). */
const BUSY = 5;
const explanations: Readonly<Record<number, readonly [problem: string, hint: string]>> = {
  8: ['cannot be written to', 'check the owner and the mode of the file and of its folder'],
  10: ['cannot be read or written: the disk failed', 'check the disk, and that it is not full'],
  11: ['is damaged', 'keep it as it is, and restore a backup under another name'],
  13: ['cannot be written to: the disk is full', 'free some space, then start again'],
  14: ['cannot be opened', 'check the owner and the mode of the file and of its folder'],
  26: ['is not a database', fileHint],
};

const DISK_IS_FULL = 13;
const diskIsFull: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

/** Says in one line what keeps a file from being opened as the database. */
export function explain(error: unknown, path: string): StartupError {
  if (error instanceof StartupError) return error;
  const cause = causeOf(error);
  const { code, errcode } = cause as { code?: unknown; errcode?: number };
  const known = explanations[diskIsFull.includes(code) ? DISK_IS_FULL : (errcode ?? 0) & 0xff];
  if (known !== undefined) return new StartupError(`${path} ${known[0]}`, known[1], { cause: error });
  if (isBusy(cause)) return new StartupError(`${path} is in use by another program`, 'try again', { cause: error });
  return new StartupError(`${path} cannot be opened: ${cause.message}`, fileHint, { cause: error });
}

/** Whether another connection has a lock that is in the way. */
export function isBusy(error: unknown): boolean {
  return (((error as { errcode?: number }).errcode ?? 0) & 0xff) === BUSY;
}

/** Whether what was read is no database of SQLite. */
export function isForeign(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 26;
}

/** What the engine itself said, below the errors of this program. */
function causeOf(error: unknown): Error {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Error) return causeOf(cause);
  return error instanceof Error ? error : new Error(String(error));
}
