import { createHmac } from 'node:crypto';
import { type Address, type As, bodyOf, type World } from './world.ts';

/** The parts of a checkout's answer that a session signs with. */
export interface SessionKeys {
  readonly sessionId: string;
  readonly sessionSecret: string;
  readonly nextNonce: string;
}

/** Leases a session. */
export const checkOut = async (
  world: World,
  address: Address,
  more: object = {},
  as: As = 'client',
): Promise<SessionKeys> => bodyOf(await world.call(as, 'POST', '/key/checkout', { ...address, ...more }));

/** The fields of a request that the session signs with `nonce`. */
export function signedBy({ sessionId, sessionSecret, nextNonce }: SessionKeys, nonce = nextNonce) {
  const signature = createHmac('sha256', sessionSecret).update(`${sessionId}:${nonce}`).digest('hex');
  return { sessionId, timestamp: nonce, signature };
}
