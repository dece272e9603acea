import ipaddr from 'ipaddr.js';

/** Whether an address belongs to some networks. */
export type Networks = (address: string) => boolean;

/** An address, IPv4 where a dual-stack socket shows it as IPv6. */
type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface Network {
  readonly base: Address;
  readonly bits: number;
}

/**
 * Reads networks.
 *
 * @param networks in CIDR notation; an address alone is a network of one
 * @throws TypeError when one of them is not
 */
export function readNetworks(networks: readonly string[]): Networks {
  const ranges = networks.map((text) => {
    const network = readNetwork(text);
    if (network === null) throw new TypeError(`${text} is not a network in CIDR notation`);
    return network;
  });
  if (ranges.length === 0) return () => false;
  return (address) => {
    const parsed = parseAddress(address);
    return parsed !== null && ranges.some(({ base, bits }) => isIn(parsed, base, bits));
  };
}

/** Whether the text is a network in CIDR notation, or an address. */
export const isNetwork = (text: string): boolean => readNetwork(text) !== null;

/** Whether every address of one network belongs to another one. */
export function isWithin(inner: string, outer: string): boolean {
  const [small, large] = [readNetwork(inner), readNetwork(outer)];
  return small !== null && large !== null && small.bits >= large.bits && isIn(small.base, large.base, large.bits);
}

/** An address, IPv4 where a dual-stack socket shows it as IPv6; null when the text is none. */
export function parseAddress(text: string): Address | null {
  // The shorter forms of IPv4, such as 10.1 or 0x0a000001, are read differently from program to program.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return null;
  const address = ipaddr.parse(text);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** An address as it is written in one way only (RFC 5952), without a zone; null when the text is none. */
export function canonicalAddress(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed instanceof ipaddr.IPv6 ? new ipaddr.IPv6(parsed.parts).toString() : (parsed?.toString() ?? null);
}

/** What one subscriber holds of an address space: an IPv4 address, or the /64 of an IPv6 address; other text as it is. */
export function subscriberOf(address: string): string {
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

function readNetwork(text: string): Network | null {
  const range = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const base = parseAddress(range?.[1] ?? '');
  if (base === null) return null;
  const longest = base.kind() === 'ipv6' ? 128 : 32;
  const bits = Number(range?.[2] ?? longest);
  return bits > longest ? null : { base, bits };
}

const isIn = (address: Address, base: Address, bits: number): boolean =>
  address.kind() === base.kind() && address.match(base, bits);
