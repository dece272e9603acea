import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LicenseKey } from '../../src/contract/scalars.ts';
import { mintKey } from '../../src/domain/license-key.ts';
import { type IpAddress, revealKey, showIp, showKey } from '../../src/domain/mask.ts';

const minted = fc.uint8Array({ minLength: 15, maxLength: 15 }).map(mintKey);
const foreign = fc.string({ unit: 'grapheme', minLength: 23, maxLength: 60 });

describe('showKey', () => {
  it.each([
    ['7Q2RM-K9X0B-3FTW6-HN4ZD-85SB5', '*****-*****-*****-*****-85SB5'],
    ['6f1b0e3a-6a4e-4b0e-9f55-0d6a2f0d1c11', '********************************1c11'],
    ['ABCDEFGHIJKLMNOPQRSTUVW', '*******************TUVW'],
    ['😀😀😀😀😀😀😀😀😀😀😀😀', '********😀😀😀😀'],
  ])('masks %s as %s', (key, masked) => {
    expect(showKey(key as LicenseKey, false)).toBe(masked);
  });

  it('masks a key of ours down to its last section', () => {
    fc.assert(
      fc.property(minted, (key) => {
        expect(showKey(key, false)).toBe(`*****-*****-*****-*****-${key.slice(24)}`);
      }),
    );
  });

  it('hides all but the last four characters of any other key', () => {
    fc.assert(
      fc.property(foreign, (key) => {
        const shown = Array.from(showKey(key as LicenseKey, false));
        expect(new Set(shown.slice(0, -4))).toEqual(new Set('*'));
        expect(shown.slice(-4)).toEqual(Array.from(key).slice(-4));
        expect(shown).toHaveLength(Array.from(key).length);
      }),
    );
  });

  it('shows a key in full to those who see secrets, and where it is issued', () => {
    fc.assert(
      fc.property(minted, (key) => {
        expect(showKey(key, true)).toBe(key);
        expect(revealKey(key)).toBe(key);
      }),
    );
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
