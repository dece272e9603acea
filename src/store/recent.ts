/** Remembers the values that were used last, at most so many. */
export interface Recent<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
}

/** Makes an empty memory of `most` values. */
export function createRecent<V>(most: number): Recent<V> {
  /** In the order of their last use. */
  const values = new Map<string, V>();
  return {
    get(key) {
      const value = values.get(key);
      if (value === undefined) return undefined;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    set(key, value) {
      values.delete(key);
      values.set(key, value);
      const [oldest] = values.keys();
      if (values.size > most && oldest !== undefined) values.delete(oldest);
    },
  };
}
