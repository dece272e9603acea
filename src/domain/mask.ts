import type { LicenseKey, ShownIp, ShownKey } from '../contract/scalars.ts';
import { ipv4Octets, ipv6Groups, mappedOctets } from './ip-address.ts';
import { hasKeyShape } from './license-key.ts';

declare const brand: unique symbol;

/** The address a device was activated from, in full: never serialised, only a {@link ShownIp} is. */
export type IpAddress = string & { readonly [brand]: 'IpAddress' };

/**
 * A key as the caller may see it. Masked, one of ours keeps its separators and last section
 * (`*****-*****-*****-*****-85SB5`), any other its last four characters. Source: API description, GET /key.
 */
export function showKey(key: LicenseKey, seesSecrets: boolean): ShownKey {
  return seesSecrets ? revealKey(key) : (maskKey(key) as ShownKey);
}

/** A key in full, for the reply that issues it, whatever the caller's rights. Source: API description, POST /create-key. */
export function revealKey(key: LicenseKey): ShownKey {
  return key as string as ShownKey;
}

/**
 * A device's address as the caller may see it. Masked, IPv4 keeps two octets (`203.0.*.*`), IPv6 two groups
 * (`2001:db8:*:*:*:*:*:*`), any other text nothing (`*`). Source: API description, GET /key.
 */
export function showIp(ip: IpAddress, seesSecrets: boolean): ShownIp {
  return (seesSecrets ? ip : maskIp(ip)) as string as ShownIp;
}

function maskKey(key: string): string {
  if (hasKeyShape(key)) return `*****-*****-*****-*****-${key.slice(-5)}`;
  const symbols = Array.from(key);
  return '*'.repeat(symbols.length - 4) + symbols.slice(-4).join('');
}

function maskIp(ip: string): string {
  const groups = ipv6Groups(ip);
  const octets = groups ? mappedOctets(groups) : ipv4Octets(ip);
  if (octets) return `${octets[0]}.${octets[1]}.*.*`;
  return groups ? `${groups[0]?.toString(16)}:${groups[1]?.toString(16)}:*:*:*:*:*:*` : '*';
}
