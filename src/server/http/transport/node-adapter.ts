import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ApiError, apiError } from '../../../contract/errors.ts';
import type { App } from '../app.ts';
import { createBodyReader } from '../input.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from '../messages.ts';
import { refusal } from '../respond.ts';

interface AdapterOptions {
  /** Whether a request may name this host, in its target or in `Host`. */
  isHostAllowed(host: string): boolean;
  fail(error: unknown): void;
}

/** Serves messages of `node:http` by the app. */
export function createNodeListener(
  app: App,
  { isHostAllowed, fail }: AdapterOptions,
): (message: IncomingMessage, response: ServerResponse) => void {
  return async (message, response) => {
    const request = readIncoming(message, response, isHostAllowed);
    // Where a request that cannot be read ends, and the next one begins, cannot be trusted.
    if (request instanceof Error) response.shouldKeepAlive = false;
    let answer: HttpResponse;
    try {
      answer = request instanceof Error ? refusal(request) : await app(request);
    } catch {
      // Even where its failure could not be logged, a request gets an answer.
      answer = refusal(apiError('serverError'));
    }
    try {
      send(response, answer, fail);
    } catch (error) {
      response.destroy();
      fail(error);
    }
  };
}

/** What may stand in a Host header (RFC 3986 §3.2.2, §3.2.3), as long as a name can be; anything else has to be refused (RFC 9112 §3.2). */
const hostShape = /^[\w.~!$&'()*+,;=%:[\]-]{0,255}$/;

/** Longer than any request needs: all that the contract takes in a query fits several times. */
const MAX_TARGET_LENGTH = 8_192;

/** A message of `node:http` as a request, or the refusal of what cannot be one. */
function readIncoming(
  message: IncomingMessage,
  response: ServerResponse,
  isHostAllowed: (host: string) => boolean,
): HttpRequest | ApiError {
  const { method = '', url = '', headersDistinct: lines, httpVersion } = message;
  if (url.length > MAX_TARGET_LENGTH) return apiError('uriTooLong');
  // A client that takes this for a proxy sends a whole address.
  const [, authority, path] = /^https?:\/\/([^/?#]+)(\/.*)$/i.exec(url) ?? [];
  const target = url.startsWith('/') ? url : path;
  const [host, ...otherHosts] = lines.host ?? [];
  // The connection was reset before its address could be read.
  const { remoteAddress: peer } = message.socket;
  const named = [authority, host].filter((name) => name !== undefined);
  const isMalformed = target === undefined || peer === undefined || otherHosts.length > 0;
  if (isMalformed || (host === undefined && httpVersion !== '1.0') || !named.every((name) => hostShape.test(name))) {
    return apiError('invalidParams');
  }
  const foreign = named.find((name) => !isHostAllowed(name));
  if (foreign !== undefined) return apiError('misdirected', { host: foreign });
  const headers: RequestHeaders = {
    lines: (name) => lines[name] ?? [],
    get: (name) => lines[name]?.join(', ') ?? null,
  };
  // Node.js decodes `chunked` only: a body with another transfer coding would stay compressed.
  if (!/^(chunked)?$/i.test(headers.get('transfer-encoding') ?? '')) return apiError('invalidParams');
  const onClose = (work: () => void) => void (response.closed ? work() : response.once('close', work));
  return { method, target, headers, peer, readBody: () => readBody(message, response, headers), onClose };
}

function readBody(message: IncomingMessage, response: ServerResponse, headers: RequestHeaders): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const leave = (cause = new Error('connection closed')) => reject(apiError('invalidParams', {}, { cause }));
    // The client may have closed the connection while its token was looked up, before a listener was set.
    if (message.destroyed) return leave();
    const body = createBodyReader(headers);
    // A request that was refused before this point is not asked for its body.
    if (headers.get('expect')?.toLowerCase() === '100-continue') response.writeContinue();
    message.on('data', (chunk: Uint8Array) => {
      try {
        body.add(chunk);
      } catch (error) {
        reject(error);
      }
    });
    message.on('end', () => resolve(body.bytes()));
    message.on('error', leave);
  });
}

/** A text of up to this size is written at once: a page of a list, in most cases. */
const AT_ONCE_BYTES = 131_072;

/** A longer text is written in parts of this size, so that it shows whether the other side takes any of it. */
const PART_BYTES = 16_384;

/** How long a caller that was answered before the end of its body may go on sending, in milliseconds. */
const LINGER_MS = 1_000;

/**
 * Sends a response, no faster than the other side takes it.
 *
 * @param fail called when the chunks of a body cannot be had; the connection is then closed in the middle of it
 */
function send(response: ServerResponse, { status, headers, body }: HttpResponse, fail: (error: unknown) => void): void {
  const { req: request } = response;
  // Closing at once could cost the caller its response; reading for ever would let it send without end.
  if (!request.complete) setTimeout(() => request.complete || request.socket.destroy(), LINGER_MS).unref();
  const isHead = request.method === 'HEAD';
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) {
    response.writeHead(status, headers);
    if (!isHead) stream(response, body, fail);
    else {
      response.end();
      // HEAD sends no chunks: tell their source that it can stop.
      void body[Symbol.asyncIterator]().return?.();
    }
    return;
  }
  const length = Buffer.byteLength(body);
  // 304 has no body, and a length would be that of the response it stands for.
  response.writeHead(status, status === 304 ? headers : { ...headers, 'Content-Length': length });
  if (isHead) return void response.end();
  if (length <= AT_ONCE_BYTES) response.end(body);
  else stream(response, split(typeof body === 'string' ? Buffer.from(body) : body), fail);
}

function stream(
  response: ServerResponse,
  body: AsyncIterable<string> | Iterable<Uint8Array>,
  fail: (error: unknown) => void,
): void {
  const chunks = Readable.from(body);
  // Its source lets go of what it holds.
  if (response.closed) return void chunks.destroy();
  pipeline(chunks, response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') fail(error);
  });
}

function* split(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PART_BYTES) yield bytes.subarray(start, start + PART_BYTES);
}
