import { createServer as createHttpServer, type Server, STATUS_CODES } from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { apiError, type Reason } from '../../../contract/errors.ts';
import type { App } from '../app.ts';
import { refusal } from '../respond.ts';
import { type Address, bind } from './bind.ts';
import {
  type ConnectionLimits,
  type Connections,
  createConnections,
  DEFAULT_CONNECTION_LIMITS,
} from './connections.ts';
import { createNodeListener } from './node-adapter.ts';

export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export interface ListenOptions extends Address {
  readonly tls?: Tls;
  readonly drainMs?: number;
  readonly limits?: Partial<ConnectionLimits> | undefined;
  /** Whether the address belongs to a proxy, which many callers share and which has no limit of its own. */
  readonly isProxy?: (address: string) => boolean;
  /** Whether requests may name this host; default: any. Keeps out pages of other sites by DNS rebinding. */
  readonly isHostAllowed?: ((host: string) => boolean) | undefined;
  readonly onFailure?: (error: unknown) => void;
}

/** Requests in flight have this long to end when the server stops, in milliseconds. */
const DRAIN_MS = 10_000;

/** Limits for slow clients, in milliseconds. The adapter refuses a missing Host, so that the refusal has the usual form. */
const OPTIONS = {
  requireHostHeader: false,
  headersTimeout: 10_000,
  requestTimeout: 12_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
};

const HANDSHAKE_MS = 10_000;

/** How long a refused connection stays open, so that the client can read the refusal, in milliseconds. */
const LINGER_MS = 1_000;

/** Serves the app over HTTP, or over HTTPS with `tls`. Throws StartupError when the address cannot be used. */
export async function listen(app: App, options: ListenOptions) {
  const { tls, drainMs = DRAIN_MS } = options;
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...options.limits };
  const connections = createConnections(limits, options.isProxy ?? (() => false));
  const server = tls
    ? createHttpsServer({ ...OPTIONS, ...tls, handshakeTimeout: HANDSHAKE_MS })
    : createHttpServer(OPTIONS);
  server.maxConnections = limits.maxConnections;
  limitConnections(server, connections);
  const serve = createNodeListener(app, {
    isHostAllowed: options.isHostAllowed ?? (() => true),
    fail: options.onFailure ?? (() => {}),
  });
  // Whether a body is wanted is decided when it is read: until then `Expect: 100-continue` gets no answer.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (message, response) => connections.enqueue(response, () => serve(message, response)));
  }
  const authority = await bind(server, options).catch((error: unknown) => {
    connections.closeAll();
    throw error;
  });
  return {
    url: `${tls ? 'https' : 'http'}://${authority}`,
    port: (server.address() as AddressInfo).port,
    /** Throws when certificate and key do not fit together. */
    reloadTls: (next: Tls) => {
      if (server instanceof HttpsServer) server.setSecureContext(next);
    },
    /** Stops accepting, and waits for the requests in flight as long as `drainMs`; then closes every connection. */
    close: () => stop(server, connections, drainMs),
  };
}

/** Refuses too many connections of one address, and requests that are not HTTP. */
function limitConnections(server: Server, connections: Connections): void {
  server.prependListener('connection', (socket: Socket) => {
    if (connections.admit(socket)) return;
    if (server instanceof HttpsServer) socket.destroy();
    else refuseConnection(socket, 'unavailable', 0);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const response = connections.current(socket);
    if (response?.req.complete) {
      // The running request was valid: the connection closes after its response.
      response.shouldKeepAlive = false;
      response.once('close', () => socket.destroySoon());
    } else if (response?.headersSent) socket.destroy();
    else refuseConnection(socket, reasons[error.code ?? ''] ?? 'invalidParams');
  });
}

/** The refusals for errors that Node.js finds; any other error is a malformed request. */
const reasons: Readonly<Record<string, Reason>> = {
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'bodyTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
};

/** Writes a refusal where there is no request to respond to, and closes the connection. */
function refuseConnection(socket: Socket, reason: Reason, lingerMs = LINGER_MS): void {
  if (!socket.writable) return void socket.destroy();
  const { status, headers, body } = refusal(apiError(reason));
  const lines = Object.entries({ ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(String(body)) });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function stop(server: Server, connections: Connections, drainMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(connections.closeAll, drainMs);
    server.close((error) => {
      clearTimeout(deadline);
      connections.closeAll();
      if (error) reject(error);
      else resolve();
    });
    connections.drain();
  });
}
