import ipaddr from 'ipaddr.js';

/** The IPv6 addresses of the public Internet (RFC 4291 §2.4). */
const GLOBAL_UNICAST = '2000::/3';

/** A block of them that is no longer assigned (RFC 3701); ipaddr.js counts it as public. */
const GIVEN_BACK = '3ffe::/16';

/** Returns why nothing may be sent to this URL, as text after a colon, or null. `allowPrivate` allows plain HTTP and private addresses. */
export function urlProblem(text: string, { allowPrivate }: { readonly allowPrivate: boolean }): string | null {
  if (!URL.canParse(text)) return 'it is not a URL';
  const { protocol, username, password, hostname, hash } = new URL(text);
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:')) return 'it must begin with https://';
  if (username !== '' || password !== '') return 'it must not hold a user name or password';
  if (hash !== '') return 'it must not have a fragment';
  if (allowPrivate) return null;
  if (/^(.+\.)?localhost\.?$/i.test(hostname)) return 'it names this machine';
  const address = literalAddress(hostname);
  return address === null || isPublicAddress(address) ? null : 'its address is not public';
}

/** The host name as an IP address; null for a name. `URL` has turned `0x7f.1` and `2130706433` into `127.0.0.1`. */
function literalAddress(hostname: string): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : null;
}

/** Whether an address is on the public Internet. An IPv4 address inside IPv6 (mapped, or behind NAT64) is judged as IPv4. */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text).range() === 'unicast';
  if (!ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  const inner = innerV4(address);
  if (inner !== null) return inner.range() === 'unicast';
  return (
    address.zoneId === undefined &&
    address.range() === 'unicast' &&
    address.match(ipaddr.IPv6.parseCIDR(GLOBAL_UNICAST)) &&
    !address.match(ipaddr.IPv6.parseCIDR(GIVEN_BACK))
  );
}

/** The IPv4 address that connections to this IPv6 address end at. */
function innerV4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  // NAT64 (RFC 6052 §2.1): the last 32 bits.
  if (address.range() === 'rfc6052') return new ipaddr.IPv4(address.toByteArray().slice(12));
  return null;
}
