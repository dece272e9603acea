import { readBaseUrl } from '../../client/base-url.ts';
import type { Client } from '../../client/index.ts';
import { encodeInput } from '../../client/request.ts';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { contract } from '../../contract/index.ts';
import { withoutPassword } from '../config/location.ts';
import type { Target } from '../config/target.ts';
import { inProcessUrl } from './connection.ts';

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
  const client = clientOf((endpoint, input) => {
    const { search, body } = encodeInput(endpoint, input);
    const path = `${endpoint.path}${search}`;
    const origin = target.kind === 'database' ? withoutPassword(target.db) : href;
    captured.resolve({ endpoint, origin, url: `${href}${path}`, path, body });
  });
  void send(client).then(
    () => captured.reject(new Error('the change made no request')),
    (error: unknown) => captured.reject(error),
  );
  return captured.promise;
}

/** A client whose operations never answer: the first one is all there is to see. */
function clientOf(see: (endpoint: AnyEndpoint, input: unknown) => void): Client {
  const operation = (endpoint: AnyEndpoint) => async (input: unknown) => {
    see(endpoint, input);
    return new Promise(() => {});
  };
  const mapped = Object.entries(contract).map(([resource, endpoints]) => [
    resource,
    Object.fromEntries(Object.entries(endpoints).map(([name, endpoint]) => [name, operation(endpoint)])),
  ]);
  return Object.fromEntries(mapped) as Client;
}
