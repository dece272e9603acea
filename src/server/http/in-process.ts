import type { Fetch } from '../../contract/endpoint.ts';
import { ApiError, apiError } from '../../contract/errors.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import type { App } from './app.ts';
import { createBodyReader } from './input.ts';
import type { HttpResponse, RequestHeaders } from './messages.ts';

/** The service as a function from `Request` to `Response`, without a socket. */
export function fetchOf(app: App, peer: string = LOOPBACK): Fetch {
  return async (request) => {
    const { method } = request;
    const { pathname, search } = new URL(request.url);
    const get = (name: string) => request.headers.get(name);
    const headers: RequestHeaders = { get, lines: (name) => [get(name)].filter((value) => value !== null) };
    const readBody = () => readWhole(request, headers);
    const httpRequest = { method, target: pathname + search, headers, peer, readBody };
    return toResponse(method, await app(httpRequest));
  };
}

/** The address under which callers in the same process are recorded. */
export const LOOPBACK = '127.0.0.1' as IpAddress;

async function readWhole(request: Request, headers: RequestHeaders): Promise<Uint8Array> {
  const body = createBodyReader(headers);
  try {
    for await (const chunk of request.body ?? []) body.add(chunk);
  } catch (error) {
    throw error instanceof ApiError ? error : apiError('invalidParams', {}, { cause: error });
  }
  return body.bytes();
}

function toResponse(method: string, { status, headers, body }: HttpResponse): Response {
  // A response to HEAD or with status 304 has no body.
  if (method === 'HEAD' || body === '') return new Response(null, { status, headers });
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  const sent = isWhole ? body : ReadableStream.from(body).pipeThrough(new TextEncoderStream());
  return new Response(sent, { status, headers });
}
