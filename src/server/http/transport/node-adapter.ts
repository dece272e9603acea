import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { apiError, type Reason } from '../../../contract/errors.ts';
import type { App } from '../app.ts';
import { createBodyReader } from '../input.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from '../messages.ts';
import { refusal } from '../respond.ts';
import { send } from './outgoing.ts';

/** How messages are taken. */
interface AdapterOptions {
  /** Whether requests may be addressed to the host that they name. */
  isHostAllowed(host: string): boolean;
  /** Counts the bytes that are held for the request of a connection. */
  hold(socket: IncomingMessage['socket'], bytes: number): void;
  /** Called when a response could not be produced to its end. */
  fail(error: unknown): void;
}

/**
 * Serves messages of `node:http` by the app.
 *
 * Responses are written to the message itself: as objects of the Fetch API they would be slower, and would lose the
 * count of what a connection holds.
 */
export function createNodeListener(
  app: App,
  { isHostAllowed, hold, fail }: AdapterOptions,
): (message: IncomingMessage, response: ServerResponse) => void {
  return getRequestListener(
    (fetchRequest, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      const holdBytes = (bytes: number) => hold(incoming.socket, bytes);
      const respond = (response: HttpResponse): Response => {
        send(outgoing, response, holdBytes, fail);
        return RESPONSE_ALREADY_SENT;
      };
      const request = readIncoming(incoming, outgoing, isHostAllowed, holdBytes);
      if (typeof request !== 'string') return app.fetch(fetchRequest, { request, respond });
      // Where such a request ends, and the next one begins, cannot be trusted.
      outgoing.shouldKeepAlive = false;
      return respond(refusal(apiError(request)));
    },
    { hostname: 'localhost', overrideGlobalObjects: false, autoCleanupIncoming: false, errorHandler: refuse },
  );
}

/** What cannot be made a request at all: its host or its path is none. */
function refuse(): Response {
  const { status, headers, body } = refusal(apiError('invalidParams'));
  return new Response(String(body), { status, headers });
}

/** What may stand in a Host header (RFC 3986 §3.2.2, §3.2.3); anything else has to be refused (RFC 9112 §3.2). */
const hostShape = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/** Longer than any request needs: all that the contract takes in a query fits several times. */
const MAX_TARGET_LENGTH = 8_192;

/** A message of `node:http` as a request, or the reason why it cannot be one. */
function readIncoming(
  message: IncomingMessage,
  response: ServerResponse,
  isHostAllowed: (host: string) => boolean,
  hold: (bytes: number) => void,
): HttpRequest | Reason {
  const { method = '', url = '', headersDistinct: lines, httpVersion } = message;
  if (url.length > MAX_TARGET_LENGTH) return 'uriTooLong';
  const target = originForm(url);
  const [host, ...otherHosts] = lines.host ?? [];
  // The connection was reset before its address could be read.
  const { remoteAddress: peer } = message.socket;
  if (target === null || peer === undefined || otherHosts.length > 0) return 'invalidParams';
  if (host === undefined ? httpVersion !== '1.0' : !hostShape.test(host) || !isHostAllowed(host)) {
    return 'invalidParams';
  }
  const headers: RequestHeaders = {
    lines: (name) => lines[name] ?? [],
    get: (name) => lines[name]?.join(', ') ?? null,
  };
  // Node.js decodes `chunked` only: a body with another transfer coding would stay compressed.
  if (!/^(chunked)?$/i.test(headers.get('transfer-encoding') ?? '')) return 'invalidParams';
  return { method, target, headers, peer, readBody: () => readBody(message, response, headers, hold) };
}

/** Path and query of a target; a client that takes this for a proxy sends a whole address. */
function originForm(target: string): string | null {
  if (target.startsWith('/')) return target;
  return /^https?:\/\/[^/?#]+(\/.*)$/i.exec(target)?.[1] ?? null;
}

function readBody(
  message: IncomingMessage,
  response: ServerResponse,
  headers: RequestHeaders,
  hold: (bytes: number) => void,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const leave = (cause = new Error('connection closed')) => reject(apiError('invalidParams', {}, { cause }));
    // The client may have closed the connection while its token was looked up, before a listener was set.
    if (message.destroyed) return leave();
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
      if (!message.complete) leave();
    });
  });
}
