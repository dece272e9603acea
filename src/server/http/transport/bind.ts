import { type AddressInfo, createServer, isIPv4, type Server } from 'node:net';
import { apiError } from '../../../contract/errors.ts';
import { StartupError } from '../../../store/errors.ts';
import type { Logger } from '../../log.ts';

export interface Address {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/** Binds a server to an address; returns `host:port` for a URL. Throws StartupError if that fails. */
export async function bind(server: Server, { host, port }: Address, option = '--port'): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = reasons[cause.code ?? ''];
      const message = reason ? `port ${port} on ${host} ${reason}` : `cannot listen on ${host}: ${cause.message}`;
      reject(new StartupError(message, `give another address with ${option}`, { cause }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}

/** Binds an address and releases it at once. Throws StartupError if that fails. */
export async function tryAddress(host: string, port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await bind(server, { host, port });
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'needs more rights than this user has',
};

/** Whether an address or name to listen on is reached from this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

/** At most one warning about a foreign host is logged in this time, in milliseconds. */
const WARN_EVERY_MS = 60_000;

/** Returns a function that tells whether a host, with or without a port, names this machine; other hosts are logged. */
export function onlyLoopbackHosts(log: Logger, monotonic: () => number): (host: string) => boolean {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (host) => {
    const name = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(host)?.[1] ?? '';
    if (isLoopback(name.toLowerCase().replace(/^\[(.*)\]$|^(localhost)\.$/, '$1$2'))) return true;
    if (monotonic() - warnedAt >= WARN_EVERY_MS) {
      warnedAt = monotonic();
      log.warn({ host }, `refused a request: ${apiError('misdirected', { host }).message}`);
    }
    return false;
  };
}
