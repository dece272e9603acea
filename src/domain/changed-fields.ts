/** The names of the given fields that differ from what they were; undefined is not given. */
export function changedFields<F extends string>(
  before: Readonly<Record<F, unknown>>,
  given: { readonly [field in F]?: unknown },
): F[] {
  const names = Object.keys(given) as F[];
  return names.filter((name) => given[name] !== undefined && !isSame(given[name], before[name]));
}

/** Whether two values are the same as JSON. */
export const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);
