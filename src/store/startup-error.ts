/**
 * The database or the server cannot be opened: another process owns the file, the schema is newer, the port is in use.
 * `hint` says what to do about it.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}
