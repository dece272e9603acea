import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Transport } from '../contract/transport.ts';

interface NetworkOptions {
  /** How long a connection may take, with its tunnel and its TLS. */
  readonly connectTimeoutMs: number;
  /** Whether `HTTPS_PROXY` and `NO_PROXY` apply. */
  readonly useProxy: boolean;
  /** Certificates (PEM) to trust at the service, in place of those of this machine. */
  readonly ca?: string | undefined;
}

/**
 * Sends over the network with the HTTP client of Node.js. Redirects are not followed, and certificates are verified even
 * if `NODE_TLS_REJECT_UNAUTHORIZED` is 0.
 */
export function openNetworkTransport({ connectTimeoutMs, useProxy, ca }: NetworkOptions): Transport {
  // Closes what is idle, which keeps no process alive, and what a proxy has not begun when it was given up here.
  const timeout = connectTimeoutMs + 1_000;
  const options = { keepAlive: true, timeout, proxyEnv: useProxy ? proxyEnvironment(process.env) : undefined };
  // An import of node:http would also load what it has for WebSockets, which takes longer than a request.
  const openHttp = once(() => {
    const { Agent, request } = process.getBuiltinModule('node:http');
    return { request, agent: new Agent(options) };
  });
  const openHttps = once(() => {
    const { Agent, request } = process.getBuiltinModule('node:https');
    return { request, agent: new Agent({ ...options, rejectUnauthorized: true, ca }) };
  });
  return ({ url, method, headers, body }, signal) =>
    new Promise((resolve, reject) => {
      const { request, agent } = url.startsWith('https:') ? openHttps() : openHttp();
      const sent = request(url, { method, headers, agent, signal });
      sent.on('response', (response) => resolve(toTransportResponse(response)));
      sent.on('error', reject);
      // Written when the connection stands: an error before that means that nothing was sent.
      onceConnected(sent, connectTimeoutMs, reject, () => sent.end(body));
    });
}

/** A name in `NO_PROXY` stands for what is below it too, as for other programs; Node.js takes it for itself alone. */
function proxyEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const entries = noProxyEntries(env);
  const below = entries.filter((entry) => domainName.test(entry)).map((name) => `.${name}`);
  return { ...env, no_proxy: [...entries, ...below].join() };
}

/** What `NO_PROXY` lists, apart by commas or blanks. */
export const noProxyEntries = (env: Readonly<Record<string, string | undefined>>): readonly string[] =>
  (env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/).filter(Boolean);

/** Without a dot or star in front of it, a port, or digits at its end, as an address has. */
const domainName = /^[a-z\d_-]+(?:\.[a-z\d_-]+)*\.?(?<!\d)$/i;

function once<T>(open: () => T): () => T {
  let opened: T | undefined;
  return () => {
    opened ??= open();
    return opened;
  };
}

function toTransportResponse(response: IncomingMessage) {
  return {
    status: response.statusCode ?? 0,
    headers: { get: (name: string) => response.headers[name.toLowerCase()]?.toString() ?? null },
    body: response,
  };
}

/** Node.js leaves it to the system how long a connection may take, and to the proxy how long a tunnel. */
function onceConnected(
  request: ClientRequest,
  timeoutMs: number,
  reject: (error: Error) => void,
  proceed: () => void,
): void {
  const timer = setTimeout(() => {
    const error = Object.assign(new Error(`no connection within ${timeoutMs} ms`), connectTimedOut);
    reject(error);
    request.destroy(error);
  }, timeoutMs);
  const connected = () => {
    clearTimeout(timer);
    proceed();
  };
  request.on('close', () => clearTimeout(timer));
  request.on('socket', (socket) => {
    if (request.reusedSocket) connected();
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', connected);
  });
}

/** As the system says it of a connection that it has given up. */
const connectTimedOut = { code: 'ETIMEDOUT', syscall: 'connect' };
