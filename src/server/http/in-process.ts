import type { Fetch } from '../../contract/endpoint.ts';
import { ApiError, apiError } from '../../contract/errors.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import type { App } from './app.ts';
import type { AddressOf } from './client-address.ts';
import { createBodyReader } from './input.ts';
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
