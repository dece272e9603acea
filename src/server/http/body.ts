import { apiError } from '../../contract/errors.ts';

/** More than any request has a use for. */
const MAX_BODY_BYTES = 1_048_576;

/** Gathers the chunks of a body. */
export interface BodyReader {
  /** Throws ApiError `bodyTooLarge` once there are too many of them. */
  add(chunk: Uint8Array): void;
  bytes(): Uint8Array;
}

/**
 * Starts on a body.
 *
 * @param announced the `Content-Length`, if there is one
 * @throws ApiError `bodyTooLarge` when that alone says so
 */
export function createBodyReader(announced: string | null): BodyReader {
  if (Number(announced) > MAX_BODY_BYTES) throw apiError('bodyTooLarge');
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    add(chunk) {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) throw apiError('bodyTooLarge');
      chunks.push(chunk);
    },
    bytes: () => (chunks.length === 1 && chunks[0]) || Buffer.concat(chunks),
  };
}
