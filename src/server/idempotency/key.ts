import { hash } from 'node:crypto';
import { apiError } from '../../contract/errors.ts';
import { splitTarget } from '../http/input.ts';
import type { RequestHeaders } from '../http/messages.ts';

const HEADERS = ['idempotency-key', 'x-idempotency-key'] as const;

const MAX_KEY_LENGTH = 255;

/** Visible ASCII characters, and spaces between them. */
const wellFormed = /^[!-~]+(?: +[!-~]+)*$/;

/**
 * The idempotency key of a request, or null when it carries none.
 *
 * A key may hold a comma: the lines of a repeated header are looked at one by one.
 *
 * @throws ApiError `idempotencyKeyMalformed` for a key that is no key, and for two that differ
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

/** Goes up when the rule below changes; records of another version are legacy. */
export const FINGERPRINT_VERSION = 1;

const START = `lkm-idempotency-${FINGERPRINT_VERSION}\0`;

/**
 * Tells whether two requests are the same: hex SHA-256 over method, raw path, canonical query and exact body bytes.
 *
 * Independent query parameters count in any order, the values of a repeated one in theirs. Each part is preceded by
 * its length, so that no two requests run together. Source: API description, "Common behavior: idempotency", 3.
 */
export function fingerprintOf(method: string, target: string, body: Uint8Array): string {
  const { path, query } = splitTarget(target);
  const head = `${START}${measured(method)}${measured(path)}${measured(canonical(query))}${body.length}:`;
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(head) + body.length);
  bytes.set(body, bytes.write(head));
  return hash('sha256', bytes);
}

const measured = (part: string): string => `${Buffer.byteLength(part)}:${part}`;

function canonical(query: string): string {
  if (query === '') return '';
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return parameters.toString();
}
