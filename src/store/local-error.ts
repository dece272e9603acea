/**
 * Something on this machine stands in the way: a file another process owns, a newer schema, a port in use.
 * `hint` says what to do about it.
 */
export class LocalError extends Error {
  override readonly name = 'LocalError';
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}
