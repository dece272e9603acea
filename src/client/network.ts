import type { Fetch, Method } from '../contract/endpoint.ts';
import type { HttpProxy } from './proxy.ts';

/** A request that can be sent any number of times, with the same bytes each time. */
export interface PreparedRequest {
  readonly url: string;
  readonly method: Method;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Sends a request once. A redirect is returned, not followed. */
export type Transport = (request: PreparedRequest, signal: AbortSignal) => Promise<TransportResponse>;

/** The parts of a response that the client reads; the global `Response` has them. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Reads one header; null when the response does not have it. */
export type ResponseHeaders = Pick<Headers, 'get'>;

interface NetworkOptions {
  /** How long a connection may take, with its tunnel and its TLS. */
  readonly connectTimeoutMs: number;
  readonly proxy: HttpProxy | null;
  /** Certificates (PEM) to trust at the service, in place of this machine's certificates. */
  readonly ca?: string | undefined;
}

/** Sends over the network. Certificates are verified even if `NODE_TLS_REJECT_UNAUTHORIZED` is 0. */
export function openNetwork({ connectTimeoutMs, proxy, ca }: NetworkOptions): Transport {
  const tls = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
  const connect = { ...tls, timeout: connectTimeoutMs };
  const open = async () => {
    const { Agent, errors, Pool, ProxyAgent, request } = await import('undici');
    // The client limits the time of an attempt itself; only the tunnel of a proxy has a time limit here.
    const options = { connect, headersTimeout: 0, bodyTimeout: 0, allowH2: false };
    const clientFactory = (origin: URL, own: object) => new Pool(origin, { ...own, headersTimeout: connectTimeoutMs });
    const dispatcher =
      proxy === null
        ? new Agent(options)
        : new ProxyAgent({ ...options, uri: proxy.href, requestTls: tls, clientFactory });
    return { request, dispatcher, errors };
  };
  let opened: ReturnType<typeof open> | undefined;
  return async ({ url, ...sent }, signal) => {
    opened ??= open();
    const { request, dispatcher, errors } = await opened;
    const { statusCode, headers, body } = await request(url, { ...sent, signal, dispatcher }).catch(
      (error: unknown) => {
        if (!(error instanceof errors.HeadersTimeoutError)) throw error;
        throw new errors.ConnectTimeoutError(`no tunnel through the proxy within ${connectTimeoutMs} ms`);
      },
    );
    return { status: statusCode, headers: { get: (name) => headers[name]?.toString() ?? null }, body };
  };
}

/** Sends through a `Fetch`: the server in this process, or the caller's own network. */
export const fetchTransport =
  (fetch: Fetch): Transport =>
  ({ url, method, headers, body }, signal) =>
    fetch(new Request(url, { method, headers, body, redirect: 'manual', signal }));
