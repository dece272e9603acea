import ipaddr from 'ipaddr.js';

/** The addresses that IANA has given out for the Internet at large (RFC 4291 §2.4). */
const GLOBAL_UNICAST = '2000::/3';

/** Blocks inside of it that ipaddr.js does not set apart (IANA IPv6 Special-Purpose Address Registry). */
const SPECIAL = ['2001::/23', '3ffe::/16', '3fff::/20'];

/** Blocks of IPv4 that ipaddr.js does not set apart (IANA IPv4 Special-Purpose Address Registry). */
const SPECIAL_V4 = ['0.0.0.0/8', '192.88.99.0/24', '198.18.0.0/15'];

/**
 * Whether an address is one of the Internet at large: not of this machine, of a private network, a link, a multicast group,
 * a tunnel, a documentation, or reserved. An IPv4 address inside of an IPv6 address (mapped, or behind NAT64) counts as
 * what it is. Text that is no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return isPublicV4(ipaddr.IPv4.parse(text));
  if (!ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  const inner = innerV4(address);
  if (inner !== null) return isPublicV4(inner);
  return (
    address.zoneId === undefined &&
    address.range() === 'unicast' &&
    address.match(ipaddr.IPv6.parseCIDR(GLOBAL_UNICAST)) &&
    !SPECIAL.some((block) => address.match(ipaddr.IPv6.parseCIDR(block)))
  );
}

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !SPECIAL_V4.some((block) => address.match(ipaddr.IPv4.parseCIDR(block)));
}

/** The IPv4 address that connections to this IPv6 address end at. */
function innerV4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  // NAT64 (RFC 6052 §2.1): the last 32 bits.
  if (address.range() === 'rfc6052') return new ipaddr.IPv4(address.toByteArray().slice(12));
  return null;
}
