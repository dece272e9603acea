import { canonicalAddress, type IpAddress, readNetworks } from '../../domain/ip-address.ts';

/** Finds the address of a caller by the peer of its connection and its `X-Forwarded-For`. */
export type AddressOf = (peer: string, forwardedFor: string | null) => IpAddress;

/**
 * Takes the peer's own address, or behind a proxy of these networks the last hop in `X-Forwarded-For` that is not in these
 * networks: the caller can have written all hops before it. An unreadable hop is `0.0.0.0`. Throws TypeError for a network
 * that is not in CIDR notation.
 */
export function trustProxies(proxies: readonly string[]): AddressOf {
  const isTrusted = readNetworks(proxies);
  return (peer, forwardedFor) => {
    if (proxies.length === 0) return show(peer);
    const hops = forwardedFor?.split(',').map((hop) => hop.trim()) ?? [];
    let address = show(peer);
    // Empty members of a list are ignored (RFC 9110, 5.6.1).
    for (const hop of hops.filter(Boolean).reverse()) {
      if (!isTrusted(address)) break;
      address = readHop(hop) ?? UNKNOWN;
    }
    return address;
  };
}

/** The address of a caller whose address cannot be read: it must not count as the proxy's. */
const UNKNOWN = '0.0.0.0' as IpAddress;

/** The address of a hop, without the port that some proxies write; null when it is not an address. */
function readHop(hop: string): IpAddress | null {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(hop) ?? [];
  return canonicalAddress(bracketed ?? plain ?? hop) as IpAddress | null;
}

/** The plain form of IPv4 for an address that a dual-stack socket shows as IPv6; other addresses unchanged. */
function show(address: string): IpAddress {
  if (!address.startsWith('::')) return address as IpAddress;
  const canonical = canonicalAddress(address) ?? ':';
  return (canonical.includes(':') ? address : canonical) as IpAddress;
}
