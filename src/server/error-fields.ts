import { StartupError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';

/** What a log line has of an error: also what an operator can do about it, where that is known. */
export function errorFields({ explain }: Pick<Store, 'explain'>, err: unknown) {
  const known = explain(err);
  return known instanceof StartupError ? { err, problem: known.message, hint: known.hint } : { err };
}
