/** Calls `build` at the first use and keeps what it returns. A command uses few schemas; to build all takes longer than it. */
export function once<T>(build: () => T): () => T {
  let built: T | undefined;
  return () => {
    built ??= build();
    return built;
  };
}
