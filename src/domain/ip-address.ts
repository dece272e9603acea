import ipaddr from 'ipaddr.js';
import type { ShownIp } from '../contract/scalars.ts';

declare const brand: unique symbol;

/** The address a device was activated from, in full: never serialised, only a {@link ShownIp} is. */
export type IpAddress = string & { readonly [brand]: 'IpAddress' };

/** An address as the caller may see it; masked `203.0.*.*`, `2001:db8:*:*:*:*:*:*` or `*`. Source: API description, GET /key. */
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

/** An address in its one canonical form (RFC 5952), without a zone; null when the text is no address. */
export function canonicalAddress(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed instanceof ipaddr.IPv6 ? new ipaddr.IPv6(parsed.parts).toString() : (parsed?.toString() ?? null);
}

/** The network of one subscriber: an IPv4 address, or the /64 of an IPv6 address; other text unchanged. */
export function subscriberOf(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

/**
 * Reads networks (CIDR, or a single address), and returns a function that tells whether an address is in any of the
 * networks. Throws `TypeError`.
 */
export function readNetworks(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((text) => {
    const network = readNetwork(text);
    if (network === null) throw new TypeError(`${text} is not a network in CIDR notation`);
    return network;
  });
  return (text) => {
    const address = ranges.length === 0 ? null : parseAddress(text);
    return address !== null && ranges.some((range) => isIn(address, range));
  };
}

/** Whether the text is a network in CIDR notation, or an address. */
export const isNetwork = (text: string): boolean => readNetwork(text) !== null;

/** Whether every address of one network belongs to another network. */
export function isWithin(inner: string, outer: string): boolean {
  const [small, large] = [readNetwork(inner), readNetwork(outer)];
  return small !== null && large !== null && small[1] >= large[1] && isIn(small[0], large);
}

/** A network as its first address and the length of its prefix. */
type Network = readonly [base: Address, bits: number];

function readNetwork(text: string): Network | null {
  const range = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const base = parseAddress(range?.[1] ?? '');
  if (base === null) return null;
  const longest = base.kind() === 'ipv6' ? 128 : 32;
  const bits = Number(range?.[2] ?? longest);
  return bits > longest ? null : [base, bits];
}

const isIn = (address: Address, [base, bits]: Network): boolean =>
  address.kind() === base.kind() && address.match(base, bits);

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address, IPv4 where a dual-stack socket shows it as IPv6; null when the text is no address. */
function parseAddress(text: string): Address | null {
  // The shorter forms of IPv4, such as 10.1 or 0x0a000001, are read differently from program to program.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return null;
  const address = ipaddr.parse(text);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}
