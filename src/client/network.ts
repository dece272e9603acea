import type { Transport } from './transport.ts';

/** How connections are opened. */
interface NetworkOptions {
  readonly connectTimeoutMs: number;
  /** Whether `HTTPS_PROXY` and `NO_PROXY` apply. */
  readonly proxied: boolean;
}

/**
 * Opens the network: loads undici, which is why this is done once and late.
 *
 * Certificates are verified whatever `NODE_TLS_REJECT_UNAUTHORIZED` says. Idle connections let the process end.
 */
export async function openNetwork({ connectTimeoutMs, proxied }: NetworkOptions): Promise<Transport> {
  // A CommonJS package: bundled, it has no exports but the default one.
  const { default: undici } = await import('undici');
  const tls = { rejectUnauthorized: true, timeout: connectTimeoutMs };
  // The attempt's own deadline covers headers and body.
  const limits = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 4_000, connect: tls };
  const dispatcher = proxied
    ? new undici.EnvHttpProxyAgent({ ...limits, proxyTls: tls, requestTls: tls })
    : new undici.Agent(limits);
  // Not by way of the global `Request`: undici would not take it, and loading it costs 10 to 25 ms.
  return async ({ url, method, headers, body }, signal) => {
    const response = await undici.fetch(url, { method, headers, body, redirect: 'manual', signal, dispatcher });
    return response as unknown as Response;
  };
}
