import { apiError } from '../../contract/errors.ts';
import type { RequestHeaders } from './messages.ts';

/** More than any request needs. */
const MAX_BODY_BYTES = 1_048_576;

/** Collects the chunks of a body. */
export interface BodyReader {
  /** Throws ApiError `bodyTooLarge` once there are too many bytes. */
  add(chunk: Uint8Array): void;
  bytes(): Uint8Array;
}

/**
 * Starts to collect a body.
 *
 * @throws ApiError `bodyTooLarge` when `Content-Length` already says so, `unsupportedMediaType` when the headers announce
 * a content coding or a character set that is not supported
 */
export function createBodyReader(headers: RequestHeaders): BodyReader {
  if (Number(headers.get('content-length')) > MAX_BODY_BYTES) throw apiError('bodyTooLarge');
  if (!isPlainUtf8(headers)) throw apiError('unsupportedMediaType');
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

function isPlainUtf8(headers: RequestHeaders): boolean {
  const coding = headers.get('content-encoding');
  if (coding !== null && !/^\s*identity\s*$/i.test(coding)) return false;
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers.get('content-type') ?? '')?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}
