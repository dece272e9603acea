import type { CallOptions } from './options.ts';

/** A part of a list that is walked through; `next` in its meta is where the one behind it begins, or null. */
export interface ListPart<Item> {
  readonly items: readonly Item[];
  readonly meta: object;
}

/** A list operation of the client that takes a cursor: `client.keys.list`. */
export type WalkOperation<Input, Item> = (
  input: Input & { readonly cursor: string; readonly limit: number },
  options?: CallOptions,
) => Promise<ListPart<Item>>;

/** Options of {@link walkList}. */
export interface WalkOptions extends Pick<CallOptions, 'signal'> {
  /** Items per request, 1 to 1000; default 1000. */
  readonly pageSize?: number | undefined;
}

/**
 * Reads a list of any size while it changes: `for await (const key of walkList(client.keys.list, { status: 'full' }))`.
 *
 * What is there from the first request to the last comes once. What is created meanwhile is left out. Only one part is in
 * memory at a time; the next one is requested when its first item is needed.
 */
export async function* walkList<Input, Item>(
  list: WalkOperation<Input, Item>,
  input: Input,
  { pageSize = 1_000, signal }: WalkOptions = {},
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
    const { items, meta } = await list({ ...input, cursor, limit: pageSize }, { signal });
    yield* items;
    cursor = 'next' in meta ? meta.next : null;
  }
}
