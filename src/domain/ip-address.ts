import ipaddr from 'ipaddr.js';

const { IPv4, IPv6 } = ipaddr;

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
