import { ProtocolError } from './errors.ts';
import type { CallOptions } from './options.ts';

/** One page of a list. `meta` is absent when a service returns the whole list at once. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly meta?: { readonly totalPages: number } | undefined;
}

/** A list operation of the client, such as `client.customers.list`. */
export type ListOperation<Input, Item> = (
  input: Input & { readonly page: number; readonly limit: number },
  options?: CallOptions,
) => Promise<ListPage<Item>>;

/** Options of {@link listAll} and {@link walkList}. */
export interface ListAllOptions extends Pick<CallOptions, 'signal'> {
  /** Items per request, 1 to 1000; default 1000. */
  readonly pageSize?: number | undefined;
}

/**
 * Reads a list by page number, one page in memory at a time: `for await (const customer of listAll(client.customers.list, {}))`.
 * The pages are separate requests: what is created or moves up meanwhile may be missed.
 */
export async function* listAll<Input, Item>(
  list: ListOperation<Input, Item>,
  input: Input,
  { pageSize = 1_000, signal }: ListAllOptions = {},
): AsyncGenerator<Item, void, undefined> {
  for (let page = 1; ; page += 1) {
    const { items, meta } = await list({ ...input, page, limit: pageSize }, { signal });
    yield* items;
    if (meta === undefined || page >= meta.totalPages || items.length === 0) return;
  }
}

/** A part of a list that is walked through; `next` is where the one after it begins, or null. A page has none. */
export interface ListPart<Item> {
  readonly items: readonly Item[];
  readonly meta: { readonly next: string | null } | { readonly totalPages: number };
}

/** A list operation of the client that takes a cursor: `client.keys.list`. */
export type WalkOperation<Input, Item> = (
  input: Input & { readonly cursor: string; readonly limit: number },
  options?: CallOptions,
) => Promise<ListPart<Item>>;

const NO_CURSOR = { call: { operation: 'a list', idempotencyKey: null, attempts: 1 }, status: 200, foreign: false };

/**
 * Reads a list by cursor, one part in memory at a time: `for await (const key of walkList(client.keys.list, { status: 'full' }))`.
 * What is there from the first request to the last comes once; what is created meanwhile is left out.
 */
export async function* walkList<Input, Item>(
  list: WalkOperation<Input, Item>,
  input: Input,
  { pageSize = 1_000, signal }: ListAllOptions = {},
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
    const { items, meta } = await list({ ...input, cursor, limit: pageSize }, { signal });
    // Without it, what is missing would look like the end.
    if (!('next' in meta)) throw new ProtocolError('the service answered a cursor with a page', NO_CURSOR);
    yield* items;
    cursor = meta.next;
  }
}
