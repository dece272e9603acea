import { type AddressInfo, createServer, type Server } from 'node:net';
import { StartupError } from '../../../store/errors.ts';

export interface Address {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/** Binds a server to an address; returns host and port as they stand in a URL. Throws StartupError when it cannot. */
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

/** Takes an address as a server would, and releases it. Throws StartupError when it cannot be used. */
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
  host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);

/** Whether a `Host` header names this machine, with a port or without. */
export function isLoopbackHost(header: string): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(header)?.[1] ?? '';
  return isLoopback(name.toLowerCase().replace(/^\[(.*)\]$/, '$1'));
}
