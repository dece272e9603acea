/** The database failed, and nothing of the transaction has taken effect. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError';

  constructor(cause: unknown) {
    super(`the database failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** PostgreSQL ended a statement that took too long; a retry would end the same way. */
export class ReadTooBroad extends StorageError {
  override readonly name = 'ReadTooBroad';
}

/** The database refused a value that breaks a constraint: a mistake in lkm, not a failure of the database. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';

  constructor(cause: Error) {
    super(`a constraint refused the change: ${cause.message}`, { cause });
  }
}

/** A commit was sent and no answer came: whether the transaction has taken effect is not known. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';

  constructor(cause: unknown) {
    super('the outcome of a commit is unknown', { cause });
  }
}

/**
 * The database or the server cannot be opened: another process owns the file, the schema is newer, the port is in use.
 * `hint` is advice for the operator.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}

/** The innermost cause of an error: the error of the database or of the system. */
export function causeOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? causeOf(error.cause) : error;
}

/** Handles the error of a change: null if another row has its unique value. Rethrows other errors. */
export function nullIfTaken(error: unknown): null {
  if (error instanceof ConstraintError) return null;
  throw error;
}
