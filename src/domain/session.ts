import { createHmac, timingSafeEqual } from 'node:crypto';

/** The secret of a session, and the nonces that its next request may sign. */
export interface SessionProof {
  readonly id: string;
  /** The text whose bytes are the key of the HMAC. */
  readonly secret: string;
  /** The nonce to sign next. */
  readonly nonce: string;
  /** The nonce that was signed last; null once it was accepted a second time. */
  readonly previousNonce: string | null;
}

/** The nonces of a session. */
export type NextNonces = Pick<SessionProof, 'nonce' | 'previousNonce'>;

/**
 * The nonces of a session after a request that signs `nonce`; null if the request is refused. The previous nonce is accepted once
 * more, for a client that lost the response, which then gets the current nonce. Source: decision 0010.
 */
export function acceptRequest(
  { id, secret, ...known }: SessionProof,
  { nonce, signature }: { readonly nonce: string; readonly signature: string },
  fresh: string,
): NextNonces | null {
  const expected = createHmac('sha256', secret).update(`${id}:${nonce}`).digest();
  const given = Buffer.from(signature, 'hex');
  // Compares in constant time.
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  if (nonce === known.nonce) return { nonce: fresh, previousNonce: nonce };
  if (nonce === known.previousNonce) return { nonce: known.nonce, previousNonce: null };
  return null;
}
