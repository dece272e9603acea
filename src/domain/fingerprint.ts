import type { Fingerprint } from './license.ts';

/**
 * The device that shares most components with a fingerprint, and at least so many; null when none does. Of several the one
 * that comes first.
 */
export function recognise<T extends { readonly fingerprint: Fingerprint | null }>(
  devices: readonly T[],
  fingerprint: Fingerprint,
  match: number,
): T | null {
  const parts = Object.entries(fingerprint);
  let best: T | null = null;
  let most = match - 1;
  for (const device of devices) {
    const { fingerprint: known } = device;
    const shared = known === null ? 0 : parts.filter(([name, value]) => known[name] === value).length;
    if (shared > most) [best, most] = [device, shared];
  }
  return best;
}
