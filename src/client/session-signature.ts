import { createHmac } from 'node:crypto';

/** What a checkout hands out, as far as a session signs with it. */
export interface SessionKeys {
  readonly sessionId: string;
  /** Its bytes as UTF-8 are the key of the HMAC. */
  readonly sessionSecret: string;
  readonly nextNonce: string;
}

/** The fields with which a session signs a heartbeat or a checkin. Source: decision 0010. */
export function signRequest({ sessionId, sessionSecret, nextNonce }: SessionKeys) {
  const signature = createHmac('sha256', sessionSecret).update(`${sessionId}:${nextNonce}`).digest('hex');
  return { sessionId, timestamp: nextNonce, signature };
}
