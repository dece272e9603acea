import type { AccountId } from '../../contract/scalars.ts';

/** Which part of a list is wanted: after an id, or after so many items; at most `limit` of them. */
export interface Range {
  readonly after?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

const CHUNK = 500;

/** The three ways to read a table by id, oldest first. */
export function listsOf<Item extends { readonly id: string }, Filter extends object>(
  readChunk: (accountId: AccountId, after: string, limit: number) => Promise<Item[]>,
  matches: (item: Item, filter: Partial<Filter>) => boolean,
) {
  async function* listAll(accountId: AccountId, filter: Partial<Filter>, after = ''): AsyncGenerator<Item> {
    for (let last = after; ; ) {
      const chunk = await readChunk(accountId, last, CHUNK);
      for (const item of chunk) if (matches(item, filter)) yield item;
      if (chunk.length < CHUNK) return;
      last = chunk.at(-1)?.id ?? last;
    }
  }

  return {
    /** Some items, oldest first. */
    async list(accountId: AccountId, range: Range & Partial<Filter> = {}): Promise<Item[]> {
      const items: Item[] = [];
      let skip = range.offset ?? 0;
      for await (const item of listAll(accountId, range, range.after)) {
        if (items.length === range.limit) break;
        if (skip > 0) skip -= 1;
        else items.push(item);
      }
      return items;
    },

    /** How many items there are. */
    async count(accountId: AccountId, filter: Partial<Filter> = {}): Promise<number> {
      let count = 0;
      for await (const _ of listAll(accountId, filter)) count += 1;
      return count;
    },

    /** All items, oldest first, read in parts. */
    listAll: (accountId: AccountId, filter: Partial<Filter> = {}): AsyncGenerator<Item> => listAll(accountId, filter),
  };
}
