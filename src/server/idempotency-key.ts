import type { IncomingMessage } from 'node:http';
import { refuse } from '../contract/errors.ts';

const HEADERS = ['idempotency-key', 'x-idempotency-key'] as const;

/** 1 to 255 visible ASCII characters, and spaces between them. */
const WELL_FORMED = /^(?=.{1,255}$)[!-~](?:[ -~]*[!-~])?$/;

/**
 * The idempotency key of a request, or null when it carries none.
 *
 * Node joins repeated header lines, and a key may hold a comma: over a socket the lines themselves are looked at.
 *
 * @throws ApiError `malformedKey` for a key that is no key, and for two that differ
 */
export function readIdempotencyKey(headers: Headers, incoming: IncomingMessage | undefined): string | null {
  const values = HEADERS.flatMap((name) => incoming?.headersDistinct[name] ?? headers.get(name) ?? []);
  const [key] = values;
  if (key === undefined) return null;
  if (values.some((value) => value !== key) || !WELL_FORMED.test(key)) throw refuse('malformedKey');
  return key;
}

/** Whether a request carries an idempotency key at all, well-formed or not. */
export const hasIdempotencyKey = (headers: Headers): boolean => HEADERS.some((name) => headers.has(name));
