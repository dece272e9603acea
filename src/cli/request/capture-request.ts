import { type Client, clientOf } from '../../client/client.ts';
import { encodeInput, readBaseUrl } from '../../client/request.ts';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { withoutPassword } from '../config/location.ts';
import type { Target } from '../config/target.ts';
import type { RequestIdentity } from './journal-lines.ts';
import { inProcessUrl } from './server.ts';

/** A request as the client will send it. */
export interface CapturedRequest {
  readonly endpoint: AnyEndpoint;
  /** Which service or database it is for, without a password. */
  readonly origin: string;
  readonly url: string;
  /** Path below the origin, and query. */
  readonly path: string;
  /** The exact text of its body. */
  readonly body: string | null;
}

/** Finds out which request `send` makes; sends nothing, opens nothing. Throws `InputError` as the client does. */
export async function captureRequest(
  target: Target,
  send: (client: Client) => Promise<unknown>,
): Promise<CapturedRequest> {
  const baseUrl = target.kind === 'database' ? inProcessUrl : target.baseUrl;
  const { href } = readBaseUrl(baseUrl, { plainHttpAllowed: false });
  const captured = Promise.withResolvers<CapturedRequest>();
  const client = clientOf((endpoint) => async (input) => {
    const { search, body } = encodeInput(endpoint, input);
    const path = `${endpoint.path}${search}`;
    const origin = target.kind === 'database' ? withoutPassword(target.db) : href;
    captured.resolve({ endpoint, origin, url: `${href}${path}`, path, body });
    // No answer: the first request is all there is to see.
    return new Promise(() => {});
  });
  void send(client).then(
    () => captured.reject(new Error('the change made no request')),
    (error: unknown) => captured.reject(error),
  );
  return captured.promise;
}

/** What tells a request from another one. */
export const identityOf = ({ origin, endpoint, path, body }: CapturedRequest): RequestIdentity => ({
  origin,
  method: endpoint.method,
  path,
  body,
});
