import { describe, expect, it } from 'vitest';
import { type IpAddress, showIp, toIpAddress } from '../../src/domain/ip-address.ts';

it('takes addresses that are written in full, and nothing else', () => {
  const isTaken = (text: string) => {
    try {
      return toIpAddress(text) === text;
    } catch {
      return false;
    }
  };
  const addresses = ['203.0.113.7', '::', '1:2:3:4:5:6:7::', 'fe80::1%eth0'];
  const others = ['10.1', '0x0a000001', '256.0.0.1', '::1.2.3.999', '1::2::3', ':::', '1:2:3:4:5:6:7:8::', 'g::', ''];
  expect([...addresses, ...others].filter(isTaken)).toEqual(addresses);
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
