import { hash } from 'node:crypto';
import { splitTarget } from '../http/input.ts';

/** To be increased when the rule below changes. Records of another version are refused with `legacyRecord`. */
export const FINGERPRINT_VERSION = 1;

const START = `lkm-idempotency-${FINGERPRINT_VERSION}\0`;

/**
 * Identifies a request: hex SHA-256 over method, raw path, canonical query and exact body bytes.
 *
 * The order of different query parameters does not matter, the order of equal names does. The length of each part comes before it,
 * so that two different requests never give the same bytes. Source: API description, "Common behavior: idempotency", 3.
 */
export function fingerprintOf(method: string, target: string, body: Uint8Array): string {
  const { path, query } = splitTarget(target);
  const head = `${START}${withLength(method)}${withLength(path)}${withLength(canonical(query))}${body.length}:`;
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(head) + body.length);
  bytes.set(body, bytes.write(head));
  return hash('sha256', bytes);
}

const withLength = (part: string): string => `${Buffer.byteLength(part)}:${part}`;

function canonical(query: string): string {
  if (query === '') return '';
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return parameters.toString();
}
