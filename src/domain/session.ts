import { createHmac, timingSafeEqual } from 'node:crypto';

/** The secret of a session, and the nonces that its next request may sign. */
export interface SessionProof {
  readonly id: string;
  /** The text whose bytes are the key of the HMAC. */
  readonly secret: string;
  /** The value to be signed next. */
  readonly nonce: string;
  /** The value that was signed last; null once it has been accepted for the second time. */
  readonly previousNonce: string | null;
}

/** The nonces that a request may sign, and the nonces of the session after an accepted request. */
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
  // Compares in the same time whatever is wrong.
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  if (nonce === known.nonce) return { nonce: fresh, previousNonce: nonce };
  if (nonce === known.previousNonce) return { nonce: known.nonce, previousNonce: null };
  return null;
}
