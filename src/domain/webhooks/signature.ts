import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a secret begins with (Standard Webhooks, "Signature scheme"). */
const SECRET_PREFIX = 'whsec_';

/** How long a secret may be, in bytes (Standard Webhooks). */
const [MIN_SECRET_BYTES, MAX_SECRET_BYTES] = [24, 64];

/** Makes a secret from random bytes, 24 to 64 of them: `whsec_` and base64. */
export function mintWebhookSecret(random: Uint8Array): string {
  if (random.length < MIN_SECRET_BYTES || random.length > MAX_SECRET_BYTES) {
    throw new RangeError(`a webhook secret takes 24 to 64 random bytes, not ${random.length}`);
  }
  return SECRET_PREFIX + Buffer.from(random).toString('base64');
}

/** What one signature covers. */
export interface SignedMessage {
  /** The event: `webhook-id`, the same at each attempt. */
  readonly id: string;
  /** When this attempt was made, in whole seconds since 1970: `webhook-timestamp`. */
  readonly timestamp: number;
  /** The exact bytes of the body. */
  readonly body: string | Uint8Array;
}

/** The headers of a request, signed with each of the secrets. */
export function signedHeaders(message: SignedMessage, secrets: readonly string[]): Record<string, string> {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(message, secret).toString('base64')}`).join(' '),
  };
}

/** Whether one of the signatures, with spaces between them, was made with one of the secrets. */
export function isSignedBy(message: SignedMessage, signatures: string, secrets: readonly string[]): boolean {
  const given = signatures.split(' ').flatMap((part) => (part.startsWith('v1,') ? [fromBase64(part.slice(3))] : []));
  let isFound = false;
  for (const secret of secrets) {
    const right = signatureOf(message, secret);
    // All are compared, so that the time does not tell which one fits.
    for (const one of given) isFound = (one.length === right.length && timingSafeEqual(one, right)) || isFound;
  }
  return isFound;
}

/** HMAC-SHA256 over `id.timestamp.body`. Throws `TypeError` for a malformed secret; its text is not repeated. */
function signatureOf({ id, timestamp, body }: SignedMessage, secret: string): Buffer {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();
}

function keyOf(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const key = fromBase64(text);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || key.length < MIN_SECRET_BYTES || key.length > MAX_SECRET_BYTES) {
    throw new TypeError('the webhook secret is not whsec_ and base64 of 24 to 64 bytes');
  }
  return key;
}

const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64');
