import { z } from 'zod';
import type { AnyEndpoint } from '../../../contract/endpoint.ts';
import { listEndpoints } from '../../../contract/index.ts';
import type { WrittenRequest } from './read-request.ts';

/** A part of a list; `meta` points to the next part by cursor, number or page. */
const Page = z.looseObject({
  data: z.array(z.unknown()),
  meta: z
    .object({ next: z.string().nullable(), last: z.int(), page: z.int(), totalPages: z.int() })
    .partial()
    .optional(),
});

/**
 * Reads all pages and returns the first response with the items of all in `data`. Returns a response that is no list
 * unchanged. Rejects with `ProtocolError` if a later page is no list.
 */
export async function readAllPages(
  request: WrittenRequest,
  send: (endpoint: AnyEndpoint, query: WrittenRequest['query']) => Promise<unknown>,
): Promise<unknown> {
  let query = { ...firstPage(request), ...request.query };
  const response = await send(rawEndpoint({ ...request, query }), query);
  const first = Page.safeParse(response);
  if (!first.success) return response;
  const { meta, ...envelope } = first.data;
  const items = [...envelope.data];
  let next = pageAfter(meta, query);
  while (next !== null) {
    query = { ...query, ...next };
    const endpoint = rawEndpoint({ ...request, query });
    // Fails here, because the items so far would be lost.
    const unwrap = (wire: unknown) => Page.parse(wire);
    const page = Page.parse(await send({ ...endpoint, reply: { ...endpoint.reply, unwrap } }, query));
    items.push(...page.data);
    next = pageAfter(page.meta, query);
  }
  return { ...envelope, data: items };
}

const MAX_LIMIT = '1000';

/** The query of the first page, by cursor if possible: numbered pages shift while objects come and go. */
function firstPage({ path, query }: WrittenRequest): WrittenRequest['query'] {
  if (takes(path, 'cursor', '') && !('page' in query)) return { cursor: '', limit: MAX_LIMIT };
  return takes(path, 'after', '0') ? { limit: MAX_LIMIT } : {};
}

function takes(path: string, name: string, example: string): boolean {
  const parsed = endpointAt('GET', path)?.query?.safeParse({ [name]: example });
  return parsed?.success === true && name in parsed.data;
}

/** The query of the next page; null after the last. */
function pageAfter(
  { next, last, page = 1, totalPages = 1 }: z.infer<typeof Page>['meta'] = {},
  { after = '0' }: WrittenRequest['query'],
): WrittenRequest['query'] | null {
  if (next !== undefined) return next === null ? null : { cursor: next };
  if (last !== undefined) return String(last) === after ? null : { after: String(last) };
  return page < totalPages ? { page: String(page + 1) } : null;
}

/** An endpoint that sends the request as it was typed and returns the response unchanged. */
export function rawEndpoint({ method, path, query, body }: WrittenRequest): AnyEndpoint {
  const known = endpointAt(method, path);
  return {
    summary: '',
    method,
    path,
    scope: known?.scope ?? 'none',
    query: objectWith(query),
    // An endpoint with a body gets an empty one.
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

/** Undefined for an endpoint that only other versions of the service have. */
const endpointAt = (method: string, path: string): AnyEndpoint | undefined =>
  listEndpoints().find(({ endpoint }) => endpoint.method === method && endpoint.path === path)?.endpoint;

const objectWith = (fields: Readonly<Record<string, unknown>>) =>
  z.object(Object.fromEntries(Object.keys(fields).map((name) => [name, z.unknown()])));
