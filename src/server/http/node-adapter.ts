import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiError } from '../../contract/errors.ts';
import { createBodyReader } from './body.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from './messages.ts';

/** What may stand in a Host header (RFC 3986 §3.2.2, §3.2.3); another one has to be refused (RFC 9112 §3.2). */
const hostShape = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/**
 * A request as it came over HTTP, or null when it is none: its target is no address (RFC 9112 §3.2), or its Host no
 * host.
 */
export function receivedOf(message: IncomingMessage): HttpRequest | null {
  const target = originForm(message.url ?? '');
  if (target === null || !hostShape.test(message.headers.host ?? '')) return null;
  return {
    method: message.method ?? '',
    target,
    headers: headersOf(message),
    peer: message.socket.remoteAddress,
    readBody: () => readBody(message),
  };
}

/** How long a caller that was answered before its body had come may go on sending, in milliseconds. */
const LINGER_MS = 1_000;

/** Sends an answer; nobody may be there to take it any more. */
export function send(response: ServerResponse, { status, headers, body }: HttpResponse): void {
  if (mayStillCome(response.req)) linger(response.req);
  // With its length the head goes out together with the body.
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Whether there is a body of which the end has not come yet. */
const mayStillCome = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined);

/**
 * Gives the rest of a body a moment to come, in which it is thrown away, and then hangs up. To hang up at once could
 * cost the caller its answer; to read on for ever would let anybody send without end.
 */
function linger(message: IncomingMessage): void {
  const hangUp = setTimeout(() => message.socket.destroy(), LINGER_MS);
  message.once('close', () => clearTimeout(hangUp));
}

/** Path and query of a target; whoever thinks this is a proxy writes a whole address. */
function originForm(target: string): string | null {
  if (target.startsWith('/')) return target;
  return /^https?:\/\/[^/?#]+(\/.*)$/i.exec(target)?.[1] ?? null;
}

/**
 * Finds the lines of a header where Node has put them. What it makes of them itself is used to see that there are
 * none: of a repeated header it may keep one line only.
 */
function headersOf({ headers, rawHeaders }: IncomingMessage): RequestHeaders {
  const lines = (name: string): readonly string[] => {
    const values: string[] = [];
    if (headers[name] === undefined) return values;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const header = rawHeaders[index] ?? '';
      if (header.length === name.length && header.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
    }
    return values;
  };
  return { lines, get: (name) => (headers[name] === undefined ? null : lines(name).join(', ')) };
}

function readBody(message: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = createBodyReader(message.headers['content-length'] ?? null);
    message.on('data', (chunk: Uint8Array) => {
      try {
        body.add(chunk);
      } catch (error) {
        reject(error);
      }
    });
    message.on('end', () => resolve(body.bytes()));
    message.on('error', (error) => reject(apiError('invalidParams', {}, { cause: error })));
  });
}
