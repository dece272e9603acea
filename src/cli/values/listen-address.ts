import { isIPv6 } from 'node:net';
import { UsageError } from '../failure/errors.ts';
import { parsePort } from './scalars.ts';

/** Where to listen: `9464` (of this machine), `0.0.0.0:9464`, `[::]:9464`. */
export function parseListenAddress(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port = text] = /^(?:\[([^[\]]+)\]|([^:[\]]+)):(\d+)$/.exec(text) ?? [];
  if (bracketed !== undefined && !isIPv6(bracketed)) throw new UsageError(`'${bracketed}' is not an IPv6 address`);
  return { host: bracketed ?? plain ?? '127.0.0.1', port: parsePort(port) };
}
