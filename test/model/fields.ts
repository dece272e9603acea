/** The members that are given. */
export const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** Entries by name after a change, in which null removes one. */
export const merged = (entries: object, changes: object): object =>
  Object.fromEntries(Object.entries({ ...entries, ...changes }).filter(([, value]) => value !== null));
