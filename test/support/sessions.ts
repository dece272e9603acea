import { createHmac } from 'node:crypto';
import type { Address, As, World } from './world.ts';

/** What a checkout hands out, as far as a session signs with it. */
export interface SessionKeys {
  readonly sessionId: string;
  readonly sessionSecret: string;
  readonly nextNonce: string;
}

/** Leases a session. */
export async function checkOut(
  world: World,
  address: Address,
  more: object = {},
  as: As = 'client',
): Promise<SessionKeys> {
  const { status, text, body } = await world.call(as, 'POST', '/key/checkout', { ...address, ...more });
  if (status !== 200) throw new Error(`the checkout was answered ${status} ${text}`);
  return body;
}

/** The fields of a request that the session signs with `nonce`. */
export function signedBy({ sessionId, sessionSecret, nextNonce }: SessionKeys, nonce = nextNonce) {
  const signature = createHmac('sha256', sessionSecret).update(`${sessionId}:${nonce}`).digest('hex');
  return { sessionId, timestamp: nonce, signature };
}
