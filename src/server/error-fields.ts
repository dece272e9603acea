import { StartupError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';

/** The fields of an error in a log line, with problem and hint for the operator if the cause is known. */
export function errorFields({ explain }: Pick<Store, 'explain'>, err: unknown) {
  const known = explain(err);
  return known instanceof StartupError ? { err, problem: known.message, hint: known.hint } : { err };
}
