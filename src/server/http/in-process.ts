import type { Fetch } from '../../contract/endpoint.ts';
import { ApiError, apiError } from '../../contract/errors.ts';
import type { App } from './app.ts';
import { createBodyReader } from './body.ts';
import type { HttpRequest } from './messages.ts';

/**
 * The service as a function from `Request` to `Response`: the network without a network.
 *
 * @param peer the address that requests are to come from
 */
export function fetchOf(app: App, peer?: string): Fetch {
  return async (request) => {
    const { status, headers, body } = await app(receivedOf(request, peer));
    return new Response(request.method === 'HEAD' ? null : body, { status, headers });
  };
}

function receivedOf(request: Request, peer: string | undefined): HttpRequest {
  const { pathname, search } = new URL(request.url);
  const get = (name: string) => request.headers.get(name);
  return {
    method: request.method,
    target: pathname + search,
    headers: { get, lines: (name) => [get(name)].filter((value) => value !== null) },
    peer,
    readBody: () => readBody(request),
  };
}

async function readBody(request: Request): Promise<Uint8Array> {
  const body = createBodyReader(request.headers.get('content-length'));
  try {
    for await (const chunk of request.body ?? []) body.add(chunk);
  } catch (error) {
    throw error instanceof ApiError ? error : apiError('invalidParams', {}, { cause: error });
  }
  return body.bytes();
}
