import type { AnyEndpoint } from '../contract/endpoint.ts';
import { InputError } from './errors.ts';

/** Who speaks. */
export interface Speaker {
  readonly userAgent: string;
  readonly token: string | undefined;
}

/** The headers of a request to `endpoint`; a public endpoint is not shown the token. */
export function writeHeaders(
  endpoint: Pick<AnyEndpoint, 'scope' | 'body'>,
  { userAgent, token }: Speaker,
  idempotencyKey: string | null,
): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    'user-agent': userAgent,
    ...(token !== undefined && endpoint.scope !== 'public' && { authorization: `Bearer ${token}` }),
    ...(endpoint.body !== undefined && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
  };
}

/** Refuses a token that no header can carry, without repeating it. */
export function checkToken(token: string | undefined): void {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return;
  throw new InputError([{ path: 'token', message: 'must be visible ASCII without spaces' }]);
}

/** Refuses an idempotency key that the service would refuse with 400/5. */
export function checkIdempotencyKey(key: string): void {
  if (key.length <= 255 && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key)) return;
  const message = 'must be 1 to 255 characters of visible ASCII, with spaces only inside';
  throw new InputError([{ path: 'idempotencyKey', message }]);
}
