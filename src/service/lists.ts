import { DEFAULT_PAGE_SIZE } from '../contract/fields.ts';
import type { ListResult } from '../contract/reply.ts';

/** The requested page of a list; without `page` and `limit`, the whole list. */
export interface PageInput {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
}

interface PageSource<Item> {
  part(range: { readonly offset: number; readonly limit: number }): Promise<readonly Item[]>;
  count(): Promise<number>;
}

interface ListSource<Item> extends PageSource<Item> {
  all(): AsyncIterable<Item> | readonly Item[];
}

/** Reads one page and its position, or without `page` and `limit` the whole list. */
export async function readList<Item>(input: PageInput, source: ListSource<Item>): Promise<ListResult<Item>> {
  return input.page === undefined && input.limit === undefined ? { items: source.all() } : readPage(input, source);
}

/** Reads one page (default: the first) and its position. */
export async function readPage<Item>(
  { page = 1, limit = DEFAULT_PAGE_SIZE }: PageInput,
  { part, count }: PageSource<Item>,
) {
  const [items, total] = await Promise.all([part({ offset: (page - 1) * limit, limit }), count()]);
  return { items, meta: { total, page, limit, totalPages: Math.ceil(total / limit) } };
}

/** Reads a part of a list that is walked by cursor, and the cursor of the next part; null after the last. */
export async function readPart<Item extends { readonly id: string }>(
  {
    limit = DEFAULT_PAGE_SIZE,
    cursor = '',
  }: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  part: (page: { readonly after: string | undefined; readonly limit: number }) => Promise<readonly Item[]>,
) {
  // One row more than requested tells whether the list goes on.
  const found = await part({ after: cursor === '' ? undefined : cursor, limit: limit + 1 });
  const items = found.slice(0, limit);
  return { items, meta: { limit, next: found.length > limit ? (items.at(-1)?.id ?? null) : null } };
}

export const readAll = <Item>(input: PageInput, items: readonly Item[]): Promise<ListResult<Item>> =>
  readList(input, {
    part: async ({ offset, limit }) => items.slice(offset, offset + limit),
    count: async () => items.length,
    all: () => items,
  });
