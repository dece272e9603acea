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
    // Nobody knows where a malformed request ends, so the next request on this connection cannot be trusted.
    if (request instanceof Error) response.shouldKeepAlive = false;
    let answer: HttpResponse;
    try {
      answer = request instanceof Error ? refusal(request) : await app(request);
    } catch {
      // The app has failed even to log a failure. The request gets a response all the same.
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

/**
 * A valid Host header (RFC 3986 §3.2.2, §3.2.3), at most as long as a name; other values must be refused (RFC 9112 §3.2).
 */
const hostShape = /^[\w.~!$&'()*+,;=%:[\]-]{0,255}$/;

/** Several times the longest query that the contract accepts. */
const MAX_TARGET_LENGTH = 8_192;

/** Converts a message of `node:http` to a request; returns an ApiError for a malformed message. */
function readIncoming(
  message: IncomingMessage,
  response: ServerResponse,
  isHostAllowed: (host: string) => boolean,
): HttpRequest | ApiError {
  const { method = '', url = '', headersDistinct: lines, httpVersion } = message;
  if (url.length > MAX_TARGET_LENGTH) return apiError('uriTooLong');
  // A client that uses this server as a proxy sends a whole address.
  const [, authority, path] = /^https?:\/\/([^/?#]+)(\/.*)$/i.exec(url) ?? [];
  const target = url.startsWith('/') ? url : path;
  const [host, ...otherHosts] = lines.host ?? [];
  // Undefined if the connection was reset before its address could be read.
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

/** A longer text is written in parts of this size: the progress shows whether the client reads. */
const PART_BYTES = 16_384;

/** How long a client may go on sending its body after the response, in milliseconds. */
const LINGER_MS = 1_000;

/**
 * Sends a response, no faster than the client reads it.
 *
 * @param fail called when the source of a body fails; the connection is then closed in the middle of the body
 */
function send(response: ServerResponse, { status, headers, body }: HttpResponse, fail: (error: unknown) => void): void {
  const { req: request } = response;
  // Closing at once could lose the response; reading on for ever would let the client send without end.
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
  // A 304 has no body; a length in it would describe the body that it leaves out (RFC 9110 §8.6).
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
  // Lets the source of the body release its resources.
  if (response.closed) return void chunks.destroy();
  pipeline(chunks, response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') fail(error);
  });
}

function* split(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PART_BYTES) yield bytes.subarray(start, start + PART_BYTES);
}
