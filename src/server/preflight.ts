import { createServer } from 'node:net';
import { isNetwork } from '../domain/ip-address.ts';
import { StartupError } from '../store/errors.ts';
import { bind, isLoopback } from './http/transport/bind.ts';
import type { Tls } from './http/transport/listen.ts';

export interface Exposure {
  readonly host: string;
  readonly tls?: Tls;
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` is believed. */
  readonly behindProxy?: readonly string[];
}

/** Throws StartupError for a server beyond this machine that nobody encrypts for, and for proxies that are no networks. */
export function checkExposure({ host, tls, behindProxy = [] }: Exposure): void {
  const wrong = behindProxy.find((text) => !isNetwork(text));
  if (wrong !== undefined) {
    throw new StartupError(`${wrong} is not a network of proxies`, 'in CIDR notation, as --behind-proxy 10.0.0.0/8');
  }
  if (isLoopback(host) || tls !== undefined || behindProxy.length > 0) return;
  throw new StartupError(
    `${host} is reached from other machines, where tokens could be overheard`,
    'give a certificate with --tls-cert and --tls-key, or name the proxy that has one with --behind-proxy',
  );
}

/** Takes an address as a server would, and releases it. Throws StartupError when it cannot be used. */
export async function tryAddress(host: string, port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await bind(server, { host, port });
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
