import ipaddr from 'ipaddr.js';
import type { IpAddress } from '../../domain/ip-address.ts';

/** Finds the address of a caller by the peer of its connection and its `X-Forwarded-For`. */
export type AddressOf = (peer: string, forwardedFor: string | null) => IpAddress;

/** Whether an address belongs to some networks. */
export type Networks = (address: string) => boolean;

/**
 * Takes the peer's own address, or behind a proxy of these networks the last hop in `X-Forwarded-For` that is not in
 * them: what stands before it was written by the caller and proves nothing.
 *
 * @param proxies networks in CIDR notation
 * @throws TypeError when one of them is not
 */
export function trustProxies(proxies: readonly string[]): AddressOf {
  const isTrusted = readNetworks(proxies);
  return (peer, forwardedFor) => {
    if (proxies.length === 0) return show(peer);
    const hops = [...(forwardedFor?.split(',').map((hop) => hop.trim()) ?? []), peer];
    let address = hops.pop() ?? peer;
    while (isTrusted(address)) {
      const next = hops.pop();
      if (next === undefined || parse(next) === null) break;
      address = next;
    }
    return show(address);
  };
}

/**
 * Reads networks.
 *
 * @param networks in CIDR notation; an address alone is a network of one
 * @throws TypeError when one of them is not
 */
export function readNetworks(networks: readonly string[]): Networks {
  const ranges = networks.map(readNetwork);
  if (ranges.length === 0) return () => false;
  return (address) => {
    const parsed = parse(address);
    return parsed !== null && ranges.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

function readNetwork(network: string): [Address, number] {
  const range = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network);
  const base = parse(range?.[1] ?? '');
  const longest = base?.kind() === 'ipv6' ? 128 : 32;
  const bits = Number(range?.[2] ?? longest);
  if (base === null || bits > longest) throw new TypeError(`${network} is not a network in CIDR notation`);
  return [base, bits];
}

/** An address, IPv4 where a dual-stack socket shows it as IPv6; null when the text is none. */
function parse(text: string): Address | null {
  // The shorter forms of IPv4, such as 10.1 or 0x0a000001, are read differently from program to program.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return null;
  const address = ipaddr.parse(text);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** The plain form of IPv4 for an address that a dual-stack socket shows as IPv6; all others as they are written. */
function show(address: string): IpAddress {
  if (!address.startsWith('::')) return address as IpAddress;
  const parsed = parse(address);
  return (parsed?.kind() === 'ipv4' ? parsed.toString() : address) as IpAddress;
}
