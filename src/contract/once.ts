/** Builds something with its first use, and once: a command uses few of the schemas, and takes less time than to build all. */
export function once<T>(build: () => T): () => T {
  let built: T | undefined;
  return () => {
    built ??= build();
    return built;
  };
}
