import type { IpAddress } from '../../domain/ip-address.ts';
import { parseAddress, readNetworks } from '../../domain/networks.ts';

/** Finds the address of a caller by the peer of its connection and its `X-Forwarded-For`. */
export type AddressOf = (peer: string, forwardedFor: string | null) => IpAddress;

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
      if (next === undefined || parseAddress(next) === null) break;
      address = next;
    }
    return show(address);
  };
}

/** The plain form of IPv4 for an address that a dual-stack socket shows as IPv6; all others as they are written. */
function show(address: string): IpAddress {
  if (!address.startsWith('::')) return address as IpAddress;
  const parsed = parseAddress(address);
  return (parsed?.kind() === 'ipv4' ? parsed.toString() : address) as IpAddress;
}
