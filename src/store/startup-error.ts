/**
 * Something on this machine stands in the way: a file another process owns, a newer schema, a port in use.
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
