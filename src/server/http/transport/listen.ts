import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { StartupError } from '../../../store/errors.ts';
import type { App } from '../app.ts';
import {
  type ConnectionLimits,
  type Connections,
  createConnections,
  DEFAULT_CONNECTION_LIMITS,
} from './connections.ts';
import { isLoopbackHost } from './loopback.ts';
import { createNodeListener } from './node-adapter.ts';
import { reasonOf, refuseConnection } from './protocol-errors.ts';

/** A listening server. */
export interface Listener {
  readonly url: string;
  readonly port: number;
  /** Takes another certificate and key for connections to come. Throws when they do not fit together. */
  reloadTls(tls: Tls): void;
  /** Stops accepting, and waits for the requests in flight as long as `drainMs`; then closes every connection. */
  close(): Promise<void>;
}

/** Certificate chain and private key, PEM text. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

/** Where and how to listen. */
export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls?: Tls;
  /** How long requests in flight may take when the server stops. */
  readonly drainMs?: number;
  readonly limits?: Partial<ConnectionLimits>;
  /** Whether many callers share an address, which then has no limit of its own. */
  readonly isProxy?: (address: string) => boolean;
  /** Whether requests must name this machine in `Host`: a page of another site, whose name was made to point here, does not. */
  readonly onlyLoopbackHosts?: boolean;
  /** Called when a response could not be produced to its end. */
  readonly onFailure?: (error: unknown) => void;
}

/** Requests in flight have this long to end when the server stops, in milliseconds. */
const DRAIN_MS = 10_000;

/** How often a server that stops looks for connections that have become idle, in milliseconds. */
const SWEEP_MS = 50;

/** Limits for slow clients, in milliseconds. A missing Host is refused by readIncoming, as everything else. */
const OPTIONS = {
  requireHostHeader: false,
  headersTimeout: 10_000,
  requestTimeout: 12_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
};

/** The same for the TLS handshake. */
const HANDSHAKE_MS = 10_000;

/**
 * Serves the app over HTTP, or over HTTPS with `tls`.
 *
 * @throws StartupError when the address cannot be used
 */
export async function listen(app: App, options: ListenOptions): Promise<Listener> {
  const { host, port, tls, drainMs = DRAIN_MS } = options;
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...options.limits };
  const connections = createConnections(limits, options.isProxy ?? (() => false));
  const server = tls
    ? createHttpsServer({ ...OPTIONS, ...tls, handshakeTimeout: HANDSHAKE_MS })
    : createHttpServer(OPTIONS);
  track(server, connections, tls !== undefined);
  const handle = createNodeListener(app, connections, {
    isHostAllowed: options.onlyLoopbackHosts ? isLoopbackHost : () => true,
    fail: options.onFailure ?? (() => {}),
  });
  // Whether a body is wanted is decided when it is read: until then `Expect: 100-continue` gets no answer.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, handle);

  try {
    await bind(server, host, port);
  } catch (error) {
    connections.destroyAll();
    throw error;
  }
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `${tls ? 'https' : 'http'}://${name}:${address.port}`,
    port: address.port,
    reloadTls: (next) => {
      if (server instanceof HttpsServer) server.setSecureContext(next);
    },
    close: () => stop(server, connections, drainMs),
  };
}

/** Lets in what is within the limits, and refuses what is no HTTP. */
function track(server: Server, connections: Connections, isTls: boolean): void {
  server.prependListener('connection', (socket: Socket) => {
    if (connections.admit(socket)) {
      if (!isTls) connections.open(socket);
    } else if (isTls) socket.destroy();
    else refuseConnection(socket, 'unavailable', 0);
  });
  if (isTls) server.prependListener('secureConnection', (socket: Socket) => connections.open(socket));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const connection = connections.find(socket);
    // What is in work was asked for correctly: it is finished, and the connection closed after it.
    if (connection?.current?.req.complete) connection.drain();
    else if (connection?.current?.headersSent) connection.destroy();
    else refuseConnection(socket, reasonOf(error));
  });
}

/** Binds a server to an address. Throws StartupError when it cannot be used. */
export function bind(server: NetServer, host: string, port: number): Promise<void> {
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

function stop(server: Server, connections: Connections, drainMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => connections.destroyAll(), drainMs);
    // Some become idle only now: one whose unwanted body has just come to its end.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    server.close((error) => {
      clearTimeout(deadline);
      clearInterval(sweep);
      connections.destroyAll();
      if (error) reject(error);
      else resolve();
    });
    connections.drain();
  });
}
