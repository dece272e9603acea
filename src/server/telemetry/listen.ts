import { createServer } from 'node:http';
import { type Address, bind } from '../http/transport/bind.ts';
import { createMetrics, type Metrics, type MetricsSources } from './metrics.ts';

const MAX_CONNECTIONS = 64;

/** Metrics that are served. */
export interface ServedMetrics extends Pick<Metrics, 'countRequest' | 'countAttempt'> {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` on an address of its own: they are for the operator's network, not for callers (decision 0081).
 *
 * @throws StartupError when the address cannot be used
 */
export async function serveMetrics(
  address: Address,
  sources: MetricsSources,
  onFailure: (error: unknown) => void,
): Promise<ServedMetrics> {
  const metrics = createMetrics(sources);
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, async (request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD') return response.writeHead(405).end();
    try {
      const text = await metrics.print();
      return response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
    } catch (error) {
      onFailure(error);
      return response.writeHead(503).end();
    }
  });
  // One too many is closed at once: those who scrape are few, and have no token that could be limited.
  server.maxConnections = MAX_CONNECTIONS;
  const authority = await bind(server, address, '--metrics').catch((error: unknown) => {
    metrics.close();
    throw error;
  });
  return {
    ...metrics,
    url: `http://${authority}/metrics`,
    close: async () => {
      server.close().closeAllConnections();
      metrics.close();
    },
  };
}
