import { hash } from 'node:crypto';
import { ApiError, apiError } from '../../contract/errors.ts';
import type { RequestHeaders } from '../http/messages.ts';

const HEADERS = ['idempotency-key', 'x-idempotency-key'] as const;

const MAX_KEY_LENGTH = 255;

/** Visible ASCII characters, and spaces between them. */
const wellFormed = /^[!-~]+(?: +[!-~]+)*$/;

/**
 * The idempotency key of a request, or null for a request without a key.
 *
 * A key may contain a comma, so the lines of a repeated header are read one by one.
 *
 * @throws ApiError `idempotencyKeyMalformed` for a malformed key, and for two different keys
 */
export function readIdempotencyKey(headers: RequestHeaders): string | null {
  const [key, ...others] = [...headers.lines(HEADERS[0]), ...headers.lines(HEADERS[1])];
  if (key === undefined) return null;
  if (key.length > MAX_KEY_LENGTH || !wellFormed.test(key)) throw apiError('idempotencyKeyMalformed');
  if (others.some((other) => other !== key)) throw apiError('idempotencyKeyMalformed');
  return key;
}

/** Whether a request carries an idempotency key at all, well-formed or not. */
export const hasIdempotencyKey = (headers: RequestHeaders): boolean =>
  HEADERS.some((name) => headers.get(name) !== null);

/**
 * The header that tells the sender whether its key arrived: the first 12 hex digits of the SHA-256 of the key, too few to find the
 * key by, or `none` for a missing or malformed key.
 */
export function seenKeyHeader(headers: RequestHeaders): Record<string, string> {
  let key: string | null = null;
  try {
    key = readIdempotencyKey(headers);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return { 'LKM-Idempotency-Key': key === null ? 'none' : hash('sha256', key).slice(0, 12) };
}
