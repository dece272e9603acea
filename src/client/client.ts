import type { AnyEndpoint, InputOf, PayloadOf } from '../contract/endpoint.ts';
import { type Contract, contract } from '../contract/index.ts';
import { readBaseUrl } from './base-url.ts';
import { type CallContext, call } from './call.ts';
import { noticeOnce } from './deprecation.ts';
import { checkToken } from './headers.ts';
import { openNetwork } from './network.ts';
import type { CallOptions, ClientOptions } from './options.ts';
import type { Plain } from './plain.ts';
import { systemTiming } from './timing.ts';
import { throughFetch } from './transport.ts';

/** Every operation of the contract as a function: `client.keys.create({ productId }, options)`. */
export type Client = {
  readonly [Resource in keyof Contract]: {
    readonly [Name in keyof Contract[Resource]]: Operation<
      Plain<InputOf<Contract[Resource][Name]>>,
      PayloadOf<Contract[Resource][Name]>
    >;
  };
};

/** Input without required fields may be left out. */
type Operation<Input, Payload> =
  Record<never, never> extends Input
    ? (input?: keyof Input extends never ? Record<string, never> : Input, options?: CallOptions) => Promise<Payload>
    : (input: Input, options?: CallOptions) => Promise<Payload>;

/**
 * Makes a client of the service at `options.baseUrl`.
 *
 * Its operations resolve to the payload without envelope and reject with `InputError` (nothing was sent), `ApiError`
 * (the service refused), `NetworkError` (no answer) or `ProtocolError` (an answer outside the contract).
 * Throws `InputError` when the base URL or the token cannot be used.
 */
export function createClient(options: ClientOptions): Client {
  const context = readOptions(options);
  const operations = Object.entries(contract).map(([resource, endpoints]) => [
    resource,
    Object.fromEntries(Object.entries(endpoints).map(([name, endpoint]) => [name, operation(context, endpoint)])),
  ]);
  return Object.fromEntries(operations) as Client;
}

function operation(context: CallContext, endpoint: AnyEndpoint) {
  return (input: unknown = {}, options: CallOptions = {}) => call(context, endpoint, input, options);
}

function readOptions(options: ClientOptions): CallContext {
  const { token, fetch, timeoutMs = 30_000, maxRetries = 4, maxWaitMs = 60_000, timing = systemTiming } = options;
  checkToken(token);
  // Within this process, and without a secret, there is nothing to overhear.
  const plainHttpAllowed = fetch !== undefined && token === undefined;
  const { href, host, isLoopback } = readBaseUrl(options.baseUrl, { plainHttpAllowed });
  // A proxy elsewhere would see what plain http sends to a loopback address.
  const openTransport = once(async () =>
    fetch ? throughFetch(fetch) : openNetwork({ connectTimeoutMs: Math.min(10_000, timeoutMs), proxied: !isLoopback }),
  );
  return {
    baseHref: href,
    host,
    speaker: { userAgent: options.userAgent ?? 'lkm', token },
    limits: { timeoutMs, maxRetries, maxWaitMs },
    timing,
    openTransport,
    onHeaders: noticeOnce(options.onNotice ?? (() => {})),
    onAttempt: options.onAttempt ?? (() => {}),
  };
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open();
    return opened;
  };
}
