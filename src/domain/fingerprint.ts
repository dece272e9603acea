import type { Fingerprint } from './license.ts';

/**
 * Returns the device that shares most components with a fingerprint, the first of several such devices; null if no device
 * shares `match` components.
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
