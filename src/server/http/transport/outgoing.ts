import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpResponse } from '../messages.ts';

/** A longer text is written in parts of this size, so that it shows whether the other side takes any of it. */
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
  const { req: request } = response;
  // Closing at once could cost the caller its response; reading for ever would let it send without end.
  if (!request.complete) setTimeout(() => request.complete || request.socket.destroy(), LINGER_MS).unref();
  const isHead = request.method === 'HEAD';
  if (typeof body !== 'string') {
    response.writeHead(status, headers);
    if (isHead) response.end();
    else stream(response, body, fail);
    return;
  }
  const length = Buffer.byteLength(body);
  // 304 has no body, and a length would be that of the response it stands for.
  response.writeHead(status, status === 304 ? headers : { ...headers, 'Content-Length': length });
  if (length <= PART_BYTES || isHead) return void response.end(body);
  hold(length);
  stream(response, split(Buffer.from(body)), fail);
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
