import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpResponse } from '../messages.ts';

/** A response is written in parts of this size, each when those before it have been taken. */
const PART_BYTES = 16_384;

/** How long a caller that was answered before the end of its body may go on sending, in milliseconds. */
const LINGER_MS = 1_000;

/**
 * Sends a response, no faster than the other side takes it.
 *
 * @param hold called with the number of bytes that are kept until then
 * @param fail called when the chunks of a body cannot be had; the connection is then closed in the middle of it
 */
export function send(
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  hold: (bytes: number) => void,
  fail: (error: unknown) => void,
): void {
  if (mayStillCome(response.req)) linger(response.req);
  if (typeof body !== 'string') {
    response.writeHead(status, headers);
    if (response.req.method === 'HEAD') response.end();
    else void write(response, body, fail);
    return;
  }
  const length = Buffer.byteLength(body);
  // 304 has no body, and a length would be that of the response it stands for.
  response.writeHead(status, status === 304 ? headers : { ...headers, 'Content-Length': length });
  if (length <= PART_BYTES || response.req.method === 'HEAD') {
    response.end(body);
    return;
  }
  hold(length);
  void write(response, split(Buffer.from(body)), fail);
}

function* split(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PART_BYTES) yield bytes.subarray(start, start + PART_BYTES);
}

async function write(
  response: ServerResponse,
  body: AsyncIterable<string | Uint8Array> | Iterable<Uint8Array>,
  fail: (error: unknown) => void,
): Promise<void> {
  const chunks = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  let isDone = false;
  // A source that waits for its next chunk would not notice by itself that nobody reads it any more.
  response.once('close', () => {
    if (!isDone) void chunks.return?.();
  });
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      if (done) break;
      // Also of one that had closed before this began, so that its source lets go of what it holds.
      if (response.closed) return void (await chunks.return?.());
      if (!response.write(value)) await drained(response);
    }
    isDone = true;
    if (!response.closed) response.end();
  } catch (error) {
    isDone = true;
    fail(error);
    response.destroy();
  }
}

/** Resolves when there is room again, or when the connection has closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed) return resolve();
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** Whether there is a body of which the end has not come yet. */
const mayStillCome = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined);

/**
 * Reads the rest of a body for a moment without keeping it, and then closes the connection. Closing at once could cost
 * the caller its response; reading for ever would let it send without end.
 */
function linger(message: IncomingMessage): void {
  const timer = setTimeout(() => message.socket.destroy(), LINGER_MS);
  message.once('close', () => clearTimeout(timer));
}
