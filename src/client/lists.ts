import type { AnyEndpoint } from '../contract/endpoint.ts';
import { namesIn } from '../contract/field-names.ts';
import { ProtocolError } from './errors.ts';

/**
 * A request for a list, which is sent when it is used: `await` gives one page, and `for await` every item from there to the
 * end, one part in memory at a time; `limit` is then the size of a part, 1 000 unless given. By cursor (`client.keys.list`)
 * an item that exists all the time comes once, and an item that is created meanwhile is left out; by page number an item
 * that moves meanwhile may be missed.
 */
export interface ListRequest<Page, Item> extends Promise<Page>, AsyncIterable<Item, void, undefined> {}

type Send = (input: object) => Promise<unknown>;

export const isList = ({ query }: AnyEndpoint): boolean => namesIn(query).includes('limit');

/** Makes the request for the list of an endpoint; `send` sends one for a page. */
export function requestList(send: Send, endpoint: AnyEndpoint, input: object): ListRequest<unknown, unknown> {
  let sent: Promise<unknown> | undefined;
  const page = () => {
    sent ??= send(input);
    return sent;
  };
  return {
    // biome-ignore lint/suspicious/noThenProperty: a promise would send a request for a page that nobody may want
    then: (...handlers) => page().then(...handlers),
    catch: (handler) => page().catch(handler),
    finally: (handler) => page().finally(handler),
    [Symbol.toStringTag]: 'ListRequest',
    [Symbol.asyncIterator]: () => readAll(send, namesIn(endpoint.query), input),
  };
}

/** The requested part of a list. */
interface Place {
  readonly page?: number;
  readonly cursor?: string | number;
  readonly after?: number;
  readonly limit?: number;
}

interface Part {
  readonly items: readonly unknown[];
  /** Absent when a service returns the whole list at once. */
  readonly meta?: { readonly next: string | null } | { readonly last: number } | { readonly totalPages: number };
}

const MAX_PART = 1_000;

async function* readAll(send: Send, names: readonly string[], input: Place): AsyncGenerator<unknown, void, undefined> {
  const first = { ...input, limit: input.limit ?? MAX_PART };
  for (let place: Place | null = { ...first, ...startOf(names, input) }; place !== null; ) {
    const part = (await send(place)) as Part;
    const next = placeAfter(part, place);
    yield* part.items;
    place = next && { ...first, ...next };
  }
}

/** The default start of a list; a list with cursors and pages is read by cursor. */
function startOf(names: readonly string[], { page, cursor = '' }: Place): Place {
  if (page !== undefined || !names.includes('page')) return {};
  return names.includes('cursor') ? { cursor } : { page: 1 };
}

const NO_CURSOR = { call: { operation: 'a list', idempotencyKey: null, attempts: 1 }, status: 200, foreign: false };

function placeAfter({ items, meta }: Part, { page = 1, cursor, after = 0 }: Place): Place | null {
  if (meta !== undefined && 'next' in meta) {
    // Some cursors are numbers.
    return meta.next === null ? null : { cursor: /^\d+$/.test(meta.next) ? Number(meta.next) : meta.next };
  }
  // Otherwise a missing position would look like the end of the list.
  if (cursor !== undefined) throw new ProtocolError('the service answered a cursor with a page', NO_CURSOR);
  if (meta === undefined) return null;
  if ('last' in meta) return meta.last <= after ? null : { after: meta.last };
  return page < meta.totalPages && items.length > 0 ? { page: page + 1 } : null;
}
