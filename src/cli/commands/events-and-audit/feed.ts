import type { Feed } from '../../../contract/feed.ts';

/** An operation that lists a numbered list part by part. */
type ListPart<Item, Meta> = (input: { readonly after: number; readonly limit: number }) => Promise<Feed<Item, Meta>>;

/** The longest part that the service gives. */
export const MAX_PART = 1_000;

/** Reads a numbered list after the number `after` to its end, part by part. */
export async function* readFeed<Item, Meta extends { readonly last: number }>(
  list: ListPart<Item, Meta>,
  after: number,
): AsyncGenerator<Feed<Item, Meta>> {
  let last = after;
  for (;;) {
    const part = await list({ after: last, limit: MAX_PART });
    yield part;
    if (part.meta.last <= last) return;
    last = part.meta.last;
  }
}

/** The first `limit` items after the number `after`, and whether there are more. */
export async function readSome<Item, Meta extends { readonly last: number }>(
  list: ListPart<Item, Meta>,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const found: Item[] = [];
  for await (const { items } of readFeed(list, after)) {
    found.push(...items);
    if (found.length > limit) break;
  }
  return { items: found.slice(0, limit), hasMore: found.length > limit };
}
