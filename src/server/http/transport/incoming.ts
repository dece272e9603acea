import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiError, type Reason } from '../../../contract/errors.ts';
import { createBodyReader } from '../input.ts';
import type { HttpRequest, RequestHeaders } from '../messages.ts';
import type { Connection } from './connection.ts';

/** What may stand in a Host header (RFC 3986 §3.2.2, §3.2.3); anything else has to be refused (RFC 9112 §3.2). */
const hostShape = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/** Longer than any request needs: all that the contract takes in a query fits several times. */
const MAX_TARGET_LENGTH = 8_192;

/** A message of `node:http` as a request, or the reason why it cannot be one. */
export function readIncoming(
  message: IncomingMessage,
  response: ServerResponse,
  { address, hold }: Connection,
  isHostAllowed: (host: string) => boolean,
): HttpRequest | Reason {
  const sent = message.url ?? '';
  if (sent.length > MAX_TARGET_LENGTH) return 'uriTooLong';
  const target = originForm(sent);
  const { host, 'transfer-encoding': transferEncoding } = message.headers;
  const hosts = countLines(message, 'host');
  if (target === null || !hostShape.test(host ?? '') || hosts > 1) return 'invalidParams';
  if (hosts === 0 && message.httpVersion !== '1.0') return 'invalidParams';
  if (hosts === 1 && !isHostAllowed(host ?? '')) return 'invalidParams';
  // Node.js decodes `chunked` only: a body with another transfer coding would stay compressed.
  if (transferEncoding !== undefined && !/^chunked$/i.test(transferEncoding)) return 'invalidParams';
  // The connection was reset before its address could be read.
  if (address === undefined) return 'invalidParams';
  const headers = headersOf(message);
  return {
    method: message.method ?? '',
    target,
    headers,
    peer: address,
    readBody: () => readBody(message, response, headers, hold),
  };
}

/** Path and query of a target; a client that takes this for a proxy sends a whole address. */
function originForm(target: string): string | null {
  if (target.startsWith('/')) return target;
  return /^https?:\/\/[^/?#]+(\/.*)$/i.exec(target)?.[1] ?? null;
}

/**
 * Reads headers from `rawHeaders`, which has every line: `message.headers` may keep only one line of a repeated header.
 * It is used only to see quickly that a header is absent.
 */
function headersOf(message: IncomingMessage): RequestHeaders {
  const { headers, rawHeaders } = message;
  const lines = (name: string): readonly string[] => {
    const values: string[] = [];
    if (headers[name] === undefined) return values;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (isNamed(rawHeaders[index], name)) values.push(rawHeaders[index + 1] ?? '');
    }
    return values;
  };
  return { lines, get: (name) => (headers[name] === undefined ? null : lines(name).join(', ')) };
}

function countLines({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) if (isNamed(rawHeaders[index], name)) count += 1;
  return count;
}

const isNamed = (header: string | undefined, name: string): boolean =>
  header?.length === name.length && header.toLowerCase() === name;

function readBody(
  message: IncomingMessage,
  response: ServerResponse,
  headers: RequestHeaders,
  hold: (bytes: number) => void,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const leave = (error?: Error) =>
      reject(apiError('invalidParams', {}, { cause: error ?? new Error('connection closed') }));
    // The client may have closed the connection while its token was looked up, before a listener was set.
    if (message.destroyed) return leave(message.errored ?? undefined);
    const body = createBodyReader(headers);
    // A request that was refused before this point is not asked for its body.
    if (headers.get('expect')?.toLowerCase() === '100-continue') response.writeContinue();
    message.on('data', (chunk: Uint8Array) => {
      hold(chunk.length);
      try {
        body.add(chunk);
      } catch (error) {
        reject(error);
      }
    });
    message.on('end', () => resolve(body.bytes()));
    message.on('error', leave);
    message.on('close', () => {
      if (!message.readableEnded) leave();
    });
  });
}
