import { StartupError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';

/** The fields of an error in a log line, with a hint for the operator if there is one. */
export function errorFields({ explain }: Pick<Store, 'explain'>, err: unknown) {
  const known = explain(err);
  return known instanceof StartupError ? { err, problem: known.message, hint: known.hint } : { err };
}
