import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type IpAddress, showIp, toIpAddress } from '../../src/domain/ip-address.ts';

/** Text that is nearly an address. */
const nearly = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.string({ unit: fc.constantFrom(':', ':', '.', '1', '0', 'f', 'g', '255', '256'), maxLength: 16 }),
);

it('takes what Node takes for an address, and nothing else', () => {
  const isTaken = (text: string) => {
    try {
      return toIpAddress(text) === text;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(nearly, (text) => {
      expect(isTaken(text)).toBe(isIP(text) !== 0);
    }),
    { numRuns: 4000 },
  );
  const others = ['::1.2.3.999', '1::2::3', ':::', '1:2:3:4:5:6:7:8::'];
  expect(['::', '1:2:3:4:5:6:7::', 'fe80::1%eth0', ...others].filter(isTaken)).toHaveLength(3);
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
    ['::cb00:7107', '0:0:*:*:*:*:*:*'],
    ['::1:ffff:cb00:7107', '0:0:*:*:*:*:*:*'],
    ['203.0.113.256', '*'],
    ['203.0.113.7:443', '*'],
    ['localhost', '*'],
    ['', '*'],
  ])('masks %s as %s', (ip, masked) => {
    expect(showIp(ip as IpAddress, false)).toBe(masked);
  });

  it('shows an address in full, as it was noted, to those who see secrets', () => {
    expect(showIp('::ffff:203.0.113.7' as IpAddress, true)).toBe('::ffff:203.0.113.7');
  });
});
