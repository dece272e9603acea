/** Makes a value for each key when it is first asked for, and remembers the values that were used last, at most so many. */
export function remember<V>(most: number): (key: string, make: () => V) => V {
  /** In the order of their last use. */
  const values = new Map<string, V>();
  return (key, make) => {
    const value = values.get(key) ?? make();
    values.delete(key);
    values.set(key, value);
    const [oldest] = values.keys();
    if (values.size > most && oldest !== undefined) values.delete(oldest);
    return value;
  };
}
