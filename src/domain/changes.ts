import type { License } from './license.ts';

/** New values for some fields; undefined means unchanged. */
export type Changes<T> = { readonly [F in keyof T]?: T[F] | undefined };

/** The new values whose JSON differs from the present values. */
export function differences<T extends object>(before: T, given: Changes<T>): Partial<T> {
  const differing = (Object.keys(given) as (keyof T)[]).filter(
    (name) => given[name] !== undefined && JSON.stringify(given[name]) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(differing.map((name) => [name, given[name]])) as Partial<T>;
}

/** Merges changes into entries by name; null removes an entry. */
export function mergeEntries<V>(
  entries: Readonly<Record<string, V>>,
  changes: Readonly<Record<string, V | null>>,
): Readonly<Record<string, V>> {
  const merged = Object.entries({ ...entries, ...changes });
  const isRemoved = (name: string) => Object.hasOwn(changes, name) && changes[name] === null;
  return Object.fromEntries(merged.filter((entry): entry is [string, V] => !isRemoved(entry[0])));
}

/** How many devices and sessions use a licence. */
export interface Usage {
  readonly devices: number;
  readonly sessions: number;
}

/** The devices and sessions that exceed new limits of a licence, in words; null when none of them does. */
export function beyondLimits(changes: Changes<License>, { devices, sessions }: Usage): string | null {
  const maxDevices = changes.maxActivations ?? devices;
  const maxSessions = changes.licenseType === 'node-locked' ? 0 : (changes.maxConcurrentSessions ?? sessions);
  return describeUse({
    devices: devices > maxDevices ? devices : 0,
    sessions: sessions > maxSessions ? sessions : 0,
  });
}

/** `2 devices and 1 session`, or null if both numbers are 0. */
export function describeUse({ devices, sessions }: Usage): string | null {
  const counts = [[devices, 'device'] as const, [sessions, 'session'] as const];
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, noun]) => `${count} ${noun}${count === 1 ? '' : 's'}`);
  return parts.length === 0 ? null : parts.join(' and ');
}
