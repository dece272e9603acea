import { ConstraintError, StorageError } from '../storage-error.ts';
import { codesOf } from './file.ts';

/** `SQLITE_CONSTRAINT`, and that of a trigger, which may raise it for any reason (sqlite.org/rescode.html). */
const CONSTRAINT = 19;
const CONSTRAINT_TRIGGER = 1811;

/** What the database throws becomes a StorageError, or a ConstraintError. */
export function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const { errcode } = codesOf(error);
    const isConstraint = (errcode & 0xff) === CONSTRAINT && errcode !== CONSTRAINT_TRIGGER;
    if (error instanceof Error && isConstraint) throw new ConstraintError(error);
    throw new StorageError(error);
  }
}
