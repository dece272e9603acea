import type { Fetch } from '../../contract/endpoint.ts';
import { ApiError, apiError } from '../../contract/errors.ts';
import type { Transport } from '../../contract/transport.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import type { AppParts } from '../app-parts.ts';
import { failed, listHandlers, routeRefusal } from '../handlers.ts';
import type { App } from './app.ts';
import type { AddressOf } from './client-address.ts';
import { createBodyReader, splitTarget } from './input.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from './messages.ts';

/**
 * The service as a function from `Request` to `Response`, without a socket.
 *
 * @param peer the address that requests are to come from
 */
export function fetchOf(app: App, peer: string = LOOPBACK): Fetch {
  return async (request) => {
    const respond = (response: HttpResponse) => toResponse(request.method, response);
    return app.fetch(request, { request: toHttpRequest(request, peer), respond });
  };
}

/**
 * The service as a function that needs no objects of the Fetch API: handlers are found by their paths alone, which hold no
 * parameters. It never rejects.
 */
export function transportOf(parts: AppParts): Transport {
  const handlers = Map.groupBy(listHandlers(parts), ({ path }) => path);
  const respond = async (request: HttpRequest): Promise<HttpResponse> => {
    const here = handlers.get(splitTarget(request.target).path) ?? [];
    const handler = here.find(({ method }) => method === request.method);
    if (handler !== undefined) return handler.handle(request);
    return routeRefusal(
      parts,
      request.method,
      here.map(({ method }) => method),
    );
  };
  return async ({ url, method, headers, body }) => {
    const { pathname, search } = new URL(url);
    const lines = withLines((name) => headers[name] ?? null);
    const request = {
      method,
      target: pathname + search,
      headers: lines,
      peer: LOOPBACK,
      readBody: () => readBody(body === null ? [] : [toBytes(body)], lines),
    };
    const response = await respond(request).catch((error: unknown) => failed(parts, error));
    return { status: response.status, headers: headersOf(response), body: chunksOf(response) };
  };
}

const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function headersOf({ headers }: HttpResponse) {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { get: (name: string) => byName.get(name.toLowerCase()) ?? null };
}

async function* chunksOf({ body }: HttpResponse): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') yield toBytes(body);
  else for await (const chunk of body) yield typeof chunk === 'string' ? toBytes(chunk) : chunk;
}

/** The address under which callers in the same process are recorded. */
export const inProcessAddress: AddressOf = () => LOOPBACK;

const LOOPBACK = '127.0.0.1' as IpAddress;

function toHttpRequest(request: Request, peer: string): HttpRequest {
  const { pathname, search } = new URL(request.url);
  const get = (name: string) => request.headers.get(name);
  const headers = withLines(get);
  return {
    method: request.method,
    target: pathname + search,
    headers,
    peer,
    readBody: () => readBody(request.body ?? [], headers),
  };
}

const withLines = (get: RequestHeaders['get']): RequestHeaders => ({
  get,
  lines: (name) => [get(name)].filter((value) => value !== null),
});

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

async function readBody(chunks: Chunks, headers: RequestHeaders): Promise<Uint8Array> {
  const body = createBodyReader(headers);
  try {
    for await (const chunk of chunks) body.add(chunk);
  } catch (error) {
    throw error instanceof ApiError ? error : apiError('invalidParams', {}, { cause: error });
  }
  return body.bytes();
}

function toResponse(method: string, { status, headers, body }: HttpResponse): Response {
  // A response to HEAD has no body, and the constructor takes none with 304 either.
  if (method === 'HEAD' || body === '') return new Response(null, { status, headers });
  return new Response(typeof body === 'string' ? body : streamOf(body), { status, headers });
}

/** Pulls a chunk when there is room for it; returns the iterator when the reader cancels. */
function streamOf(chunks: AsyncIterable<string | Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
