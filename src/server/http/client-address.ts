import { BlockList, isIP } from 'node:net';
import type { IpAddress } from '../../domain/mask.ts';

/** The address of a caller in the same process. */
const IN_PROCESS = '127.0.0.1' as IpAddress;

/** Finds the address a request came from. */
export type AddressOf = (peer: string | undefined, forwardedFor: string | null) => IpAddress;

/**
 * Takes the peer's own address, or behind a proxy of these networks the last hop in `X-Forwarded-For` that is not
 * one of them: what stands before it was written by the caller and proves nothing.
 *
 * @param proxies networks in CIDR notation
 * @throws TypeError when one of them is none
 */
export function trustProxies(proxies: readonly string[]): AddressOf {
  const trusted = new BlockList();
  for (const network of proxies) addNetwork(trusted, network);
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return (peer, forwardedFor) => {
    if (peer === undefined) return IN_PROCESS;
    if (proxies.length === 0) return unmap(peer) as IpAddress;
    const hops = [...(forwardedFor?.split(',').map((hop) => hop.trim()) ?? []), peer].map(unmap);
    let address = hops.pop() ?? peer;
    while (isTrusted(address)) {
      const next = hops.pop();
      if (next === undefined || isIP(next) === 0) break;
      address = next;
    }
    return address as IpAddress;
  };
}

function addNetwork(list: BlockList, network: string): void {
  const [address = '', bits, ...more] = network.split('/');
  const family = isIP(address);
  const longest = family === 6 ? 128 : 32;
  const prefix = Number(bits ?? longest);
  // Number reads '' as 0, which would trust every address.
  if (family === 0 || !/^\d+$/.test(bits ?? '0') || prefix > longest || more.length > 0) {
    throw new TypeError(`${network} is not a network in CIDR notation`);
  }
  list.addSubnet(address, prefix, family === 6 ? 'ipv6' : 'ipv4');
}

/** An IPv4 address as a dual-stack socket shows it, without its IPv6 prefix. */
const unmap = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
