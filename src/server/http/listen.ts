import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { apiError } from '../../contract/errors.ts';
import { StartupError } from '../../store/startup-error.ts';
import type { App } from './app.ts';
import { receivedOf, send } from './node-adapter.ts';
import { refusal } from './respond.ts';

/** A listening server. */
export interface Listener {
  readonly url: string;
  readonly port: number;
  /** Stops accepting, and waits for the requests in flight. */
  close(): Promise<void>;
}

/** Certificate chain and private key, PEM text. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

/** Bounds on slow and on never-ending clients, in milliseconds. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
};

/** How often a server that stops looks for connections that have become idle, in milliseconds. */
const SWEEP_MS = 50;

/**
 * Serves the app over HTTP, or over HTTPS with `tls`.
 *
 * @param port 0 picks a free one
 * @throws StartupError when the address cannot be had
 */
export async function listen(
  app: App,
  { host, port, tls }: { host: string; port: number; tls?: Tls },
): Promise<Listener> {
  const handle: RequestListener = async (message, response) => {
    const received = receivedOf(message);
    send(response, received === null ? refusal(apiError('invalidParams')) : await app(received));
  };
  const server = tls ? createHttpsServer({ ...TIMEOUTS, ...tls }, handle) : createHttpServer(TIMEOUTS, handle);
  await bind(server, host, port);
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `${tls ? 'https' : 'http'}://${name}:${address.port}`,
    port: address.port,
    close: () => stop(server),
  };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new StartupError(`port ${port} on ${host} is in use`, 'give another with --port, or 0 for a free one', {
      cause: error,
    });
  }
  if (error.code === 'EACCES') {
    return new StartupError(`port ${port} needs more rights than this user has`, 'give a port above 1023 with --port', {
      cause: error,
    });
  }
  return new StartupError(`cannot listen on ${host}: ${error.message}`, 'give another address with --host', {
    cause: error,
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    // A connection with a request in flight is kept alive after its answer, and would be waited for.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    server.close((error) => {
      clearInterval(sweep);
      if (error) reject(error);
      else resolve();
    });
    server.closeIdleConnections();
  });
}
