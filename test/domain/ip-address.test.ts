import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ipv4Octets, ipv6Groups, mappedOctets } from '../../src/domain/ip-address.ts';

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
