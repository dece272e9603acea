import type { TokenRepository } from './tables/tokens.ts';

type Token = NonNullable<Awaited<ReturnType<TokenRepository['findByHash']>>>;

type Work<R, T> = (repositories: R) => Promise<T>;

/** More than are in use at one time, as a rule. When there are more, all are forgotten. */
const MAX_TOKENS = 1_000;

/**
 * Makes a memory of the tokens that were looked up before. Only for a process that is the only one to write to its
 * database, and whose transactions run one after the other. Unknown ones are not remembered: anybody can make them up.
 */
export function createTokenMemory() {
  const known = new Map<string, Token>();
  let generation = 0;
  let isChanged = false;

  return {
    /** Tokens as they are read, each from the database once until it is forgotten. */
    inFrontOf: (tokens: TokenRepository): TokenRepository => ({
      ...tokens,
      async findByHash(hash) {
        const remembered = known.get(hash);
        if (remembered !== undefined) return remembered;
        const before = generation;
        const found = await tokens.findByHash(hash);
        // What was read before a commit must not be remembered after it.
        if (found === null || generation !== before) return found;
        if (known.size === MAX_TOKENS) known.clear();
        known.set(hash, found);
        return found;
      },
    }),
    /** To be called when a transaction changes a token. */
    noteChange(): void {
      isChanged = true;
    },
    /** Runs a transaction; after its commit all tokens are forgotten, if it changed one. */
    async during<R, T>(work: Work<R, T>, transaction: (work: Work<R, T>) => Promise<T>): Promise<T> {
      let isStale = false;
      try {
        return await transaction(async (repositories) => {
          try {
            return await work(repositories);
          } finally {
            isStale = isChanged;
            isChanged = false;
          }
        });
      } finally {
        if (isStale) {
          generation += 1;
          known.clear();
        }
      }
    },
  };
}
