import type { AnyEndpoint } from '../../../contract/endpoint.ts';
import { UsageError } from '../../failure/errors.ts';
import { endpointAt, rawEndpoint } from './raw-endpoint.ts';
import type { WrittenRequest } from './read-request.ts';

/** Sends an endpoint's request once. */
export type SendOnce = (endpoint: AnyEndpoint, input: unknown) => Promise<unknown>;

/** Reads a list to its end, page by page, and returns the first response with the items of all in its `data`. */
export async function readAllPages(request: WrittenRequest, send: SendOnce): Promise<unknown> {
  if (request.method !== 'GET') throw new UsageError('--paginate is for lists, which are read with GET');
  let next: WrittenRequest | null = { ...request, query: { ...beginning(request), ...request.query } };
  let first: Readonly<Record<string, unknown>> | undefined;
  const items: unknown[] = [];
  while (next !== null) {
    const response = await send(rawEndpoint(next), next.query);
    // What has no pages is what it is.
    if (!isPage(response)) return response;
    first ??= response;
    items.push(...response.data);
    next = following(next, response);
  }
  const { meta: _, ...envelope } = first ?? {};
  return { ...envelope, data: items };
}

/** The largest part that the service gives. */
const MAX_LIMIT = '1000';

/** A list that can be walked through with a cursor is: its pages shift while objects come and go. */
function beginning({ path, query }: WrittenRequest): WrittenRequest['query'] {
  if (takes(path, 'cursor', '') && !('page' in query)) return { cursor: '', limit: MAX_LIMIT };
  return takes(path, 'after', '0') ? { limit: MAX_LIMIT } : {};
}

/** Whether the list has this query parameter. */
function takes(path: string, name: string, example: string): boolean {
  const parsed = endpointAt('GET', path)?.query?.safeParse({ [name]: example });
  return parsed?.success === true && name in parsed.data;
}

type Page = Readonly<Record<string, unknown>> & { readonly data: readonly unknown[] };

const isPage = (response: unknown): response is Page =>
  typeof response === 'object' && response !== null && 'data' in response && Array.isArray(response.data);

/** The request for the page after this one; null after the last. */
function following(request: WrittenRequest, { meta }: Page): WrittenRequest | null {
  if (typeof meta !== 'object' || meta === null) return null;
  const next = nextOf(meta, request.query);
  return next === null ? null : { ...request, query: { ...request.query, ...next } };
}

/** By cursor, by number, or by page: what the list answers with. */
function nextOf(meta: object, { after = '0' }: WrittenRequest['query']): Record<string, string> | null {
  if ('next' in meta) return typeof meta.next === 'string' ? { cursor: meta.next } : null;
  if ('last' in meta) return String(meta.last) === after ? null : { after: String(meta.last) };
  if (!('page' in meta && 'totalPages' in meta)) return null;
  return Number(meta.page) < Number(meta.totalPages) ? { page: String(Number(meta.page) + 1) } : null;
}
