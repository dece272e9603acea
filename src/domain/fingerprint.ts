import type { Device, Fingerprint } from './license.ts';

/**
 * The device that shares most components with a fingerprint, and at least so many; null when none does. Of several the one
 * that comes first.
 */
export function recognise(devices: readonly Device[], fingerprint: Fingerprint, match: number): Device | null {
  const shared = ({ fingerprint: known }: Device): number =>
    Object.entries(fingerprint).filter(([name, value]) => known?.[name] === value).length;
  const best = devices.toSorted((one, other) => shared(other) - shared(one))[0];
  return best !== undefined && shared(best) >= match ? best : null;
}
