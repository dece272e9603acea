import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { StartupError } from '../../store/errors.ts';
import type { Metrics } from './metrics.ts';

/** Where metrics are served. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

const MAX_CONNECTIONS = 64;

/**
 * Serves `GET /metrics` on an address of its own: they are for the operator's network, not for callers (decision 0081).
 *
 * @throws StartupError when the address cannot be used
 */
export async function listenForMetrics(
  { host, port }: MetricsAddress,
  metrics: Pick<Metrics, 'print' | 'contentType'>,
  onFailure: (error: unknown) => void,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
    const isKnown = request.url?.split('?')[0] === '/metrics';
    if (!isKnown || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(isKnown ? 405 : 404).end();
      return;
    }
    metrics.print().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      (error: unknown) => {
        onFailure(error);
        response.writeHead(503).end();
      },
    );
  });
  // One to be dropped is dropped at once: those who scrape are few, and have no token that could be limited.
  server.maxConnections = MAX_CONNECTIONS;
  await bindForMetrics(server, { host, port });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Binds a server to the address for metrics. Throws StartupError when it cannot be used. */
export function bindForMetrics(server: Server, { host, port }: MetricsAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const text = `metrics cannot be served on ${host}:${port}: ${cause.message}`;
      reject(new StartupError(text, 'give another address with --metrics', { cause }));
    });
    server.listen(port, host, resolve);
  });
}
