import { expect, it } from 'vitest';
import { recognise } from '../../src/domain/fingerprint.ts';
import type { Device } from '../../src/domain/license.ts';

const device = (hostId: string, fingerprint: Device['fingerprint']) => ({ hostId, fingerprint }) as Device;

const mine = { cpu: 'a', disk: 'b', board: 'c', constructor: 'd' };

it.each([
  ['the one that shares most', 1, 'two'],
  ['the first of those that share as many', 2, 'two'],
  ['none that shares fewer', 3, undefined],
])('finds %s', (_, match, found) => {
  const devices = [
    device('none', null),
    device('other', {}),
    device('one', { cpu: 'a' }),
    device('two', { cpu: 'a', disk: 'b' }),
    device('also two', { disk: 'b', board: 'c' }),
  ];
  expect(recognise(devices, mine, match)?.hostId).toBe(found);
});

it('compares each device once, however many there are', () => {
  let compared = 0;
  const counted = (i: number) => ({
    get cpu() {
      compared += 1;
      return i % 2 === 0 ? 'a' : 'z';
    },
  });
  const devices = Array.from({ length: 1_000 }, (_, i) => device(`host-${i}`, counted(i)));
  expect(recognise(devices, { cpu: 'a' }, 1)?.hostId).toBe('host-0');
  expect(compared).toBe(1_000);
});
