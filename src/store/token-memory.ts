import type { TokenRepository } from './tables/tokens.ts';

type Token = NonNullable<Awaited<ReturnType<TokenRepository['findByHash']>>>;

/** More tokens than are usually in use at one time. When the memory is full, it forgets all tokens. */
const MAX_TOKENS = 1_000;

/**
 * Makes a memory of the tokens that were looked up before. Only for a process that is the only one to write to its database,
 * and whose transactions run one after the other. Without it a look-up of a key takes 1.1 times as long. Unknown tokens are
 * not remembered: anybody can make them up.
 */
export function createTokenMemory() {
  const known = new Map<string, Promise<Token>>();
  let generation = 0;
  let isChanged = false;

  return {
    /** Tokens as they are read, each from the database once until it is forgotten. */
    inFrontOf(tokens: TokenRepository): TokenRepository {
      async function lookUp(hash: string): Promise<Token | null> {
        const before = generation;
        const found = await tokens.findByHash(hash);
        // A token that was read before a commit must not be remembered after the commit.
        if (found === null || generation !== before) return found;
        if (known.size === MAX_TOKENS) known.clear();
        known.set(hash, Promise.resolve(found));
        return found;
      }
      return { ...tokens, findByHash: (hash) => known.get(hash) ?? lookUp(hash) };
    },
    noteChange(): void {
      isChanged = true;
    },
    /**
     * To be called after each transaction, also after a failed one: forgets all tokens if a token was changed. Transactions
     * that share a commit report before the next commit begins, so that each report covers the changes of all of them.
     */
    forgetChanged(): void {
      if (!isChanged) return;
      isChanged = false;
      generation += 1;
      known.clear();
    },
  };
}
