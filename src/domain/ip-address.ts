/** The four octets of an IPv4 address in dotted form; null when the text is not one. */
export function ipv4Octets(text: string): readonly number[] | null {
  const octets = text.split('.');
  return octets.length === 4 && octets.every(isOctet) ? octets.map(Number) : null;
}

/**
 * The eight 16-bit groups of an IPv6 address (RFC 4291 §2.2): `::` filled in, a dotted tail read as two groups,
 * a zone (`%eth0`) dropped. Null when the text is not one.
 */
export function ipv6Groups(text: string): readonly number[] | null {
  const [head = '', tail, ...more] = withoutDots(text.replace(/%.+$/, '')).split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const gap = 8 - before.length - after.length;
  if (more.length > 0 || (tail === undefined ? gap !== 0 : gap < 1)) return null;
  const groups = [...before, ...Array<string>(gap).fill('0'), ...after];
  return groups.every(isGroup) ? groups.map((group) => Number.parseInt(group, 16)) : null;
}

/** The IPv4 address that the groups of an IPv4-mapped IPv6 address (`::ffff:203.0.113.7`) carry; else null. */
export function mappedOctets(groups: readonly number[]): readonly number[] | null {
  const [a, b, c, d, e, marker, high = 0, low = 0] = groups;
  if (a || b || c || d || e || marker !== 0xffff) return null;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff];
}

const isOctet = (text: string): boolean => /^(?:0|[1-9][0-9]{0,2})$/.test(text) && Number(text) <= 255;

const isGroup = (text: string): boolean => /^[0-9a-f]{1,4}$/i.test(text);

const groupsOf = (text: string): readonly string[] => (text === '' ? [] : text.split(':'));

function withoutDots(text: string): string {
  const start = text.lastIndexOf(':') + 1;
  const octets = ipv4Octets(text.slice(start));
  if (start === 0 || !octets) return text;
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  return `${text.slice(0, start)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
