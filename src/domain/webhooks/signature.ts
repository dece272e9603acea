import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignatureForm } from '../../contract/webhooks.ts';

/** The prefix of a secret (Standard Webhooks, "Signature scheme"). */
const SECRET_PREFIX = 'whsec_';

/** How long a secret may be (Standard Webhooks). */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/** Makes a secret from random bytes, 24 to 64 of them: `whsec_` and base64. */
export function mintWebhookSecret(random: Uint8Array): string {
  if (random.length < MIN_SECRET_BYTES || random.length > MAX_SECRET_BYTES) {
    throw new RangeError(`a webhook secret takes 24 to 64 random bytes, not ${random.length}`);
  }
  return SECRET_PREFIX + Buffer.from(random).toString('base64');
}

/** The content that a signature covers. */
export interface SignedMessage {
  /** The event: `webhook-id`, the same at each attempt. */
  readonly id: string;
  /** When this attempt was made, in whole seconds since 1970: `webhook-timestamp`. */
  readonly timestamp: number;
  /** The exact bytes of the body. */
  readonly body: string | Uint8Array;
}

/** The forms in which a request is signed. */
export interface Signing {
  readonly signatures?: readonly SignatureForm[] | undefined;
  /** The header of timestamped signatures. */
  readonly header?: string | undefined;
}

export const SIGNATURE_HEADER = 'LKM-Signature';

/** The headers of a request, signed with each of the secrets; by default as Standard Webhooks says. */
export function signedHeaders(
  message: SignedMessage,
  secrets: readonly string[],
  { signatures = ['standard'], header = SIGNATURE_HEADER }: Signing = {},
): Record<string, string> {
  const { id, timestamp } = message;
  const standard = () => secrets.map((secret) => `v1,${signatureOf(message, secret).toString('base64')}`).join(' ');
  const timestamped = () => [`t=${timestamp}`, ...secrets.map((one) => `v1=${timestampedOf(message, one)}`)].join();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(signatures.includes('standard') && { 'webhook-signature': standard() }),
    ...(signatures.includes('timestamped') && { [header]: timestamped() }),
  };
}

/** Headers that the request has already, or that receivers and proxies act on. */
const TAKEN_HEADERS = new RegExp(
  '^(webhook-(id|timestamp|signature)|content-.+|user-agent|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|' +
    'expect|(proxy-)?authorization|cookie|date|forwarded|x-forwarded-.+|via|accept.*|range|if-.+|origin|referer)$',
  'i',
);

/** Why a header of this name cannot hold timestamped signatures, as words to follow the name; null if it can. */
export function signatureHeaderProblem(name: string): string | null {
  // A token (RFC 9110 §5.6.2).
  if (!/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name)) return 'is not the name of a header';
  return TAKEN_HEADERS.test(name) ? 'is a header that means something else' : null;
}

/** Whether any of the signatures, which spaces separate, was made with any of the secrets. */
export function isSignedBy(message: SignedMessage, signatures: string, secrets: readonly string[]): boolean {
  const given = signatures.split(' ').flatMap((part) => (part.startsWith('v1,') ? [fromBase64(part.slice(3))] : []));
  const expected = secrets.map((secret) => signatureOf(message, secret));
  return hasCommon(given, expected);
}

/** Whether any of the timestamped signatures, in hexadecimal digits, was made with any of the secrets. */
export function isTimestampedBy(
  message: Omit<SignedMessage, 'id'>,
  signatures: readonly string[],
  secrets: readonly string[],
): boolean {
  const expected = secrets.map((secret) => Buffer.from(timestampedOf(message, secret)));
  const given = signatures.map((one) => Buffer.from(one));
  return hasCommon(given, expected);
}

function hasCommon(given: readonly Buffer[], expected: readonly Buffer[]): boolean {
  let isFound = false;
  // Compares all pairs, so that the time does not show which pair is equal.
  for (const one of given) {
    for (const other of expected) isFound = (one.length === other.length && timingSafeEqual(one, other)) || isFound;
  }
  return isFound;
}

/** HMAC-SHA256 over `id.timestamp.body`. Throws `TypeError` for a malformed secret; its text is not repeated. */
function signatureOf({ id, timestamp, body }: SignedMessage, secret: string): Buffer {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
}

/** HMAC-SHA256 over `timestamp.body` in hexadecimal digits. Its key is the text of the secret, with `whsec_`, in UTF-8. */
function timestampedOf({ timestamp, body }: Omit<SignedMessage, 'id'>, secret: string): string {
  if (!secret.startsWith(SECRET_PREFIX)) throw malformed();
  keyOf(secret);
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
}

const malformed = () => new TypeError('the webhook secret is not whsec_ and base64 of 24 to 64 bytes');

function keyOf(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const key = fromBase64(text);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || key.length < MIN_SECRET_BYTES || key.length > MAX_SECRET_BYTES) {
    throw malformed();
  }
  return key;
}

const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64');
