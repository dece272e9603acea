import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type IpAddress, ipv4Octets, ipv6Groups, mappedOctets, showIp } from '../../src/domain/ip-address.ts';

/** Text that is nearly an address. */
const nearly = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.string({ unit: fc.constantFrom(':', ':', '.', '1', '0', 'f', 'g', '255', '256'), maxLength: 16 }),
);

describe('ipv4Octets', () => {
  it('reads what Node takes for IPv4, and nothing else', () => {
    fc.assert(
      fc.property(nearly, (text) => {
        expect(ipv4Octets(text) !== null).toBe(isIPv4(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('gives the octets in their order', () => {
    expect(ipv4Octets('203.0.113.255')).toEqual([203, 0, 113, 255]);
  });
});

describe('ipv6Groups', () => {
  it('reads what Node takes for IPv6, and nothing else', () => {
    fc.assert(
      fc.property(nearly, (text) => {
        expect(ipv6Groups(text) !== null).toBe(isIPv6(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['2001:db8:1:2:3:4:5:6', [0x2001, 0xdb8, 1, 2, 3, 4, 5, 6]],
    ['2001:DB8::6', [0x2001, 0xdb8, 0, 0, 0, 0, 0, 6]],
    ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['1:2:3:4:5:6:7::', [1, 2, 3, 4, 5, 6, 7, 0]],
    ['::ffff:203.0.113.7', [0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7107]],
    ['fe80::1%eth0', [0xfe80, 0, 0, 0, 0, 0, 0, 1]],
    ['::1.2.3.999', null],
    ['1::2::3', null],
    [':::', null],
    ['1:2:3:4:5:6:7:8::', null],
  ])('reads %s', (text, groups) => {
    expect(ipv6Groups(text)).toEqual(groups);
  });
});

describe('mappedOctets', () => {
  it.each([
    [
      [0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7107],
      [203, 0, 113, 7],
    ],
    [[0, 0, 0, 0, 0, 0, 0xcb00, 0x7107], null],
    [[0, 0, 0, 0, 1, 0xffff, 0xcb00, 0x7107], null],
  ])('reads %j as %j', (groups, octets) => {
    expect(mappedOctets(groups)).toEqual(octets);
  });
});

describe('showIp', () => {
  it.each([
    ['203.0.113.7', '203.0.*.*'],
    ['2001:db8:85a3::8a2e:370:7334', '2001:db8:*:*:*:*:*:*'],
    ['2001:0DB8:0000::1', '2001:db8:*:*:*:*:*:*'],
    ['::1', '0:0:*:*:*:*:*:*'],
    ['2001::7334', '2001:0:*:*:*:*:*:*'],
    ['fe80::1%eth0', 'fe80:0:*:*:*:*:*:*'],
    ['::ffff:203.0.113.7', '203.0.*.*'],
    ['::FFFF:cb00:7107', '203.0.*.*'],
    ['203.0.113.256', '*'],
    ['203.0.113.7:443', '*'],
    ['localhost', '*'],
    ['', '*'],
  ])('masks %s as %s', (ip, masked) => {
    expect(showIp(ip as IpAddress, false)).toBe(masked);
  });

  it('masks alike all addresses that differ only in what is hidden', () => {
    const group = fc.nat({ max: 0xffff }).map((value) => value.toString(16));
    const hidden = fc.tuple(group, group, group, group, group, group);
    fc.assert(
      fc.property(hidden, hidden, (a, b) => {
        expect(mask(`2001:db8:${a.join(':')}`)).toBe(mask(`2001:db8:${b.join(':')}`));
      }),
    );
  });

  it('shows nothing of a text that is not an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(mask(`${text} not an address`)).toBe('*');
      }),
    );
  });

  it('shows an address in full, as it was noted, to those who see secrets', () => {
    expect(showIp('::ffff:203.0.113.7' as IpAddress, true)).toBe('::ffff:203.0.113.7');
  });

  const mask = (ip: string) => showIp(ip as IpAddress, false);
});
