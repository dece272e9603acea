import type { Fetch, Method } from '../contract/endpoint.ts';

/** A request that can be sent any number of times, with the same bytes each time. */
export interface PreparedRequest {
  readonly url: string;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Sends a request once. A redirect is returned, not followed. */
export type Transport = (request: PreparedRequest, signal: AbortSignal) => Promise<TransportResponse>;

/** What the client reads of a response; the global `Response` and undici's both fit. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Reads one header; null when the response does not have it. */
export interface ResponseHeaders {
  get(name: string): string | null;
}

/** Sends through a `Fetch`: the server in this process, or the caller's own network. */
export const fetchTransport =
  (fetch: Fetch): Transport =>
  ({ url, method, headers, body }, signal) =>
    fetch(new Request(url, { method, headers, body, redirect: 'manual', signal }));

interface NetworkOptions {
  readonly connectTimeoutMs: number;
  /** Whether `HTTPS_PROXY` and `NO_PROXY` apply. */
  readonly useProxy: boolean;
}

/**
 * Sends over the network with undici, which takes time to load: open it once, with the first call.
 *
 * Certificates are verified even if `NODE_TLS_REJECT_UNAUTHORIZED` is 0. Idle connections do not keep the process alive.
 */
export async function openNetworkTransport({ connectTimeoutMs, useProxy }: NetworkOptions): Promise<Transport> {
  // A CommonJS package: bundled, it has no exports but the default one.
  const { default: undici } = await import('undici');
  const tls = { rejectUnauthorized: true, timeout: connectTimeoutMs };
  // The attempt's own timeout covers headers and body.
  const limits = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 4_000, connect: tls };
  const dispatcher = useProxy
    ? new undici.EnvHttpProxyAgent({ ...limits, proxyTls: tls, requestTls: tls })
    : new undici.Agent(limits);
  // Without the global `Request`: undici does not accept it, and loading it costs 10 to 25 ms.
  return ({ url, method, headers, body }, signal) =>
    undici.fetch(url, { method, headers, body, redirect: 'manual', signal, dispatcher });
}
