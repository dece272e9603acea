import ipaddr from 'ipaddr.js';
import type { ShownIp } from '../contract/scalars.ts';

const { IPv4, IPv6 } = ipaddr;

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
  const groups = ipv6Groups(ip);
  const octets = groups ? mappedOctets(groups) : ipv4Octets(ip);
  if (octets) return `${octets[0]}.${octets[1]}.*.*`;
  return groups ? `${groups[0]?.toString(16)}:${groups[1]?.toString(16)}:*:*:*:*:*:*` : '*';
}

/** A checked text as an address. */
export function toIpAddress(text: string): IpAddress {
  if (isIpAddress(text)) return text;
  throw new RangeError(`${text} is not an address`);
}

const isIpAddress = (text: string): text is IpAddress => ipv4Octets(text) !== null || ipv6Groups(text) !== null;

/** The four octets of an IPv4 address in dotted form; null when the text is not one. */
export function ipv4Octets(text: string): readonly number[] | null {
  return IPv4.isValidFourPartDecimal(text) ? IPv4.parse(text).octets : null;
}

/**
 * The eight 16-bit groups of an IPv6 address (RFC 4291 §2.2): `::` filled in, a dotted tail read as two groups,
 * a zone (`%eth0`) dropped. Null when the text is not one.
 */
export function ipv6Groups(text: string): readonly number[] | null {
  return IPv6.isValid(text) ? IPv6.parse(text).parts : null;
}

/** The IPv4 address that the groups of an IPv4-mapped IPv6 address (`::ffff:203.0.113.7`) carry; else null. */
export function mappedOctets(groups: readonly number[]): readonly number[] | null {
  const address = new IPv6([...groups]);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().octets : null;
}
