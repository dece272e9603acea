import { refuse } from '../contract/errors.ts';
import type { RequestHeaders } from './request-headers.ts';

const HEADERS = ['idempotency-key', 'x-idempotency-key'] as const;

/** 1 to 255 visible ASCII characters, and spaces between them. */
const WELL_FORMED = /^(?=.{1,255}$)[!-~](?:[ -~]*[!-~])?$/;

/**
 * The idempotency key of a request, or null when it carries none.
 *
 * A key may hold a comma: the lines of a repeated header are looked at one by one.
 *
 * @throws ApiError `malformedKey` for a key that is no key, and for two that differ
 */
export function readIdempotencyKey(headers: RequestHeaders): string | null {
  const values = HEADERS.flatMap(headers.lines);
  const [key] = values;
  if (key === undefined) return null;
  if (values.some((value) => value !== key) || !WELL_FORMED.test(key)) throw refuse('malformedKey');
  return key;
}

/** Whether a request carries an idempotency key at all, well-formed or not. */
export const hasIdempotencyKey = (headers: RequestHeaders): boolean =>
  HEADERS.some((name) => headers.get(name) !== null);
