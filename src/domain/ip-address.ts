import ipaddr from 'ipaddr.js';
import type { ShownIp } from '../contract/scalars.ts';
import { parseAddress } from './networks.ts';

declare const brand: unique symbol;

/** The address a device was activated from, in full: never serialised, only a {@link ShownIp} is. */
export type IpAddress = string & { readonly [brand]: 'IpAddress' };

/**
 * A device's address as the caller may see it. Masked, IPv4 keeps two octets (`203.0.*.*`), IPv6 two groups
 * (`2001:db8:*:*:*:*:*:*`), any other text nothing (`*`). Source: API description, GET /key.
 */
export function showIp(ip: IpAddress, seesSecrets: boolean): ShownIp {
  const shown: string = seesSecrets ? ip : maskIp(ip);
  return shown as ShownIp;
}

function maskIp(ip: string): string {
  const address = parseAddress(ip);
  if (address === null) return '*';
  if (address instanceof ipaddr.IPv4) return `${address.octets[0]}.${address.octets[1]}.*.*`;
  return `${address.parts[0]?.toString(16)}:${address.parts[1]?.toString(16)}:*:*:*:*:*:*`;
}

/** A checked text as an address. */
export function toIpAddress(text: string): IpAddress {
  if (parseAddress(text) === null) throw new RangeError(`${text} is not an address`);
  return text as IpAddress;
}
