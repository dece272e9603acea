import { z } from 'zod';
import type { AnyEndpoint } from '../../../contract/endpoint.ts';
import { listEndpoints } from '../../../contract/index.ts';
import type { WrittenRequest } from './read-request.ts';

/** What a list answers with; `meta` says how to go on: by cursor, by number, or by page. */
const Page = z.looseObject({
  data: z.array(z.unknown()),
  meta: z
    .object({ next: z.string().nullable(), last: z.int(), page: z.int(), totalPages: z.int() })
    .partial()
    .optional(),
});

/**
 * Reads a list to its end, page by page, and returns the first response with the items of all in its `data`. A response
 * that is not a list is returned as it is; rejects with `ProtocolError` when one after the first is not.
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
    // Without a list here, the items so far would be lost.
    const unwrap = (wire: unknown) => Page.parse(wire);
    const page = Page.parse(await send({ ...endpoint, reply: { ...endpoint.reply, unwrap } }, query));
    items.push(...page.data);
    next = pageAfter(page.meta, query);
  }
  return { ...envelope, data: items };
}

const MAX_LIMIT = '1000';

/** The query of the first page. A list that takes a cursor is read by it: numbered pages shift while objects come and go. */
function firstPage({ path, query }: WrittenRequest): WrittenRequest['query'] {
  if (takes(path, 'cursor', '') && !('page' in query)) return { cursor: '', limit: MAX_LIMIT };
  return takes(path, 'after', '0') ? { limit: MAX_LIMIT } : {};
}

function takes(path: string, name: string, example: string): boolean {
  const parsed = endpointAt('GET', path)?.query?.safeParse({ [name]: example });
  return parsed?.success === true && name in parsed.data;
}

/** The query of the page after this one; null after the last. */
function pageAfter(
  { next, last, page = 1, totalPages = 1 }: z.infer<typeof Page>['meta'] = {},
  { after = '0' }: WrittenRequest['query'],
): WrittenRequest['query'] | null {
  if (next !== undefined) return next === null ? null : { cursor: next };
  if (last !== undefined) return String(last) === after ? null : { after: String(last) };
  return page < totalPages ? { page: String(page + 1) } : null;
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
const endpointAt = (method: string, path: string): AnyEndpoint | undefined =>
  listEndpoints().find(({ endpoint }) => endpoint.method === method && endpoint.path === path)?.endpoint;

const objectWith = (fields: Readonly<Record<string, unknown>>) =>
  z.object(Object.fromEntries(Object.keys(fields).map((name) => [name, z.unknown()])));
