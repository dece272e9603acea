import { z } from 'zod';
import type { AnyEndpoint } from '../../../contract/endpoint.ts';
import { listEndpoints } from '../../../contract/index.ts';
import type { WrittenRequest } from './read-request.ts';

/** Sends an endpoint's request once. */
export type SendOnce = (endpoint: AnyEndpoint, input: unknown) => Promise<unknown>;

/**
 * Reads a list to its end, page by page, and returns the first response with the items of all in its `data`. A response
 * that is not a list is returned as it is; rejects with `ProtocolError` when one after the first is not.
 */
export async function readAllPages(request: WrittenRequest, send: SendOnce): Promise<unknown> {
  let next: WrittenRequest | null = { ...request, query: { ...beginning(request), ...request.query } };
  let first: Readonly<Record<string, unknown>> | undefined;
  const items: unknown[] = [];
  while (next !== null) {
    const endpoint = first === undefined ? rawEndpoint(next) : pageEndpoint(next);
    const response = await send(endpoint, next.query);
    if (!isPage(response)) return response;
    first ??= response;
    items.push(...response.data);
    next = following(next, response);
  }
  const { meta: _, ...envelope } = first ?? {};
  return { ...envelope, data: items };
}

/** The endpoint of a page after the first, whose response has to be a list: without it, the items so far would be lost. */
function pageEndpoint(request: WrittenRequest): AnyEndpoint {
  const endpoint = rawEndpoint(request);
  return { ...endpoint, reply: { ...endpoint.reply, unwrap: (wire) => ListedPage.parse(wire) } };
}

const ListedPage = z.looseObject({ data: z.array(z.unknown()) });

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

/** An endpoint for one written request: it sends what was written, and its payload is the response as it came. */
export function rawEndpoint({ method, path, query, body }: WrittenRequest): AnyEndpoint {
  const known = endpointAt(method, path);
  return {
    summary: '',
    method,
    path,
    scope: known?.scope ?? 'none',
    query: objectWith(query),
    // An endpoint with a body gets one, though nothing is written for it.
    ...((body !== null || known?.body !== undefined) && { body: objectWith(body ?? {}) }),
    reply: {
      status: 200,
      ...(known?.reply.contentType && { contentType: known.reply.contentType }),
      schema: known?.reply.schema ?? z.unknown(),
      wrap: (payload) => payload,
      unwrap: (wire) => wire,
    },
    example: { reply: null },
    errors: known?.errors ?? [],
  };
}

/** The endpoint of the contract that a request is for; another version of the service may have more. */
export const endpointAt = (method: string, path: string): AnyEndpoint | undefined =>
  listEndpoints().find(({ endpoint }) => endpoint.method === method && endpoint.path === path)?.endpoint;

const objectWith = (fields: Readonly<Record<string, unknown>>) =>
  z.object(Object.fromEntries(Object.keys(fields).map((name) => [name, z.unknown()])));
