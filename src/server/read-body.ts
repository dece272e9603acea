import { ApiError, refuse } from '../contract/errors.ts';
import type { RequestHeaders } from './request-headers.ts';

/** More than any request has a use for. */
const LARGEST_BODY_BYTES = 1_048_576;

/**
 * Reads the exact bytes of a body.
 *
 * @throws ApiError `bodyTooLarge`, as soon as that is known; `invalidParams` when the caller hangs up in the middle
 */
export async function readBody(request: Request, headers: RequestHeaders): Promise<Uint8Array> {
  try {
    return await readBytes(request, headers);
  } catch (error) {
    throw error instanceof ApiError ? error : refuse('invalidParams', {}, { cause: error });
  }
}

async function readBytes(request: Request, headers: RequestHeaders): Promise<Uint8Array> {
  const announced = Number(headers.get('content-length') ?? Number.NaN);
  if (announced > LARGEST_BODY_BYTES) throw refuse('bodyTooLarge');
  // Node lets no more through than was announced; and `arrayBuffer` is the quick way.
  if (!Number.isNaN(announced)) return new Uint8Array(await request.arrayBuffer());
  return readStream(request.body);
}

async function readStream(stream: Request['body']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream ?? []) {
    length += chunk.length;
    if (length > LARGEST_BODY_BYTES) throw refuse('bodyTooLarge');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
