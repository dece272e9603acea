import { isSame } from './changed-fields.ts';
import type { License } from './license.ts';

/** The fields that a vendor can change. */
const changeable = [
  'customerId',
  'maxActivations',
  'expirationDate',
  'expiresAfter',
  'gracePeriod',
  'features',
  'metadata',
  'isTrial',
  'allowedHosts',
  'licenseType',
  'maxConcurrentSessions',
  'heartbeatInterval',
  'sessionLeaseDuration',
  'customerCanSelfReset',
  'vendorDisabled',
  'versionId',
] as const satisfies readonly (keyof License)[];

type Changeable = (typeof changeable)[number];

/** New values for some fields of a licence; undefined means unchanged. */
export type LicenseChanges = { readonly [F in Changeable]?: License[F] | undefined };

/** What differs from the licence as it is. */
export function realChanges(license: License, changes: LicenseChanges): LicenseChanges {
  const differing = changeable.filter(
    (field) => changes[field] !== undefined && !isSame(changes[field], license[field]),
  );
  return Object.fromEntries(differing.map((field) => [field, changes[field]]));
}

/** The licence with these changes. */
export function withChanges(license: License, changes: LicenseChanges): License {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...license, ...Object.fromEntries(given) };
}

/** Entries with changes by name, of which null removes one. */
export function mergeEntries<V>(
  entries: Readonly<Record<string, V>>,
  changes: Readonly<Record<string, V | null>>,
): Readonly<Record<string, V>> {
  const merged = Object.entries({ ...entries, ...changes });
  return Object.fromEntries(merged.filter((entry): entry is [string, V] => entry[1] !== null));
}

/** The values of changed fields as the record has them: those that are numbers, instants, flags, ids or a choice. */
export function recordedValues(license: License, changes: LicenseChanges) {
  return Object.fromEntries(
    recorded.flatMap((field) => (field in changes ? [[apiNameOf(field), license[field]]] : [])),
  );
}

/** What the API calls a field of a licence. */
export const apiNameOf = (field: string): string => apiNames.get(field) ?? field;

const apiNames: ReadonlyMap<string, string> = new Map([
  ['features', 'metadata.features'],
  ['isTrial', 'metadata.is_trial'],
]);

/** Not among them: what the vendor wrote in own words, and hosts, of which there may be a thousand. */
const recorded = [
  'customerId',
  'maxActivations',
  'expirationDate',
  'isTrial',
  'licenseType',
  'maxConcurrentSessions',
  'heartbeatInterval',
  'sessionLeaseDuration',
  'customerCanSelfReset',
  'versionId',
] as const satisfies readonly Changeable[];

/** What is used of a licence. */
export interface Usage {
  readonly devices: number;
  readonly sessions: number;
}

/** What of its use the new limits of a licence have no room for; null when they have room for all. */
export function beyondLimits(changes: LicenseChanges, { devices, sessions }: Usage): string | null {
  const maxDevices = changes.maxActivations ?? devices;
  const maxSessions = changes.licenseType === 'node-locked' ? 0 : (changes.maxConcurrentSessions ?? sessions);
  return describeUse({
    devices: devices > maxDevices ? devices : 0,
    sessions: sessions > maxSessions ? sessions : 0,
  });
}

/** `2 devices and 1 session`, or null for none. */
export function describeUse({ devices, sessions }: Usage): string | null {
  const parts = [count(devices, 'device'), count(sessions, 'session')].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' and ');
}

const count = (amount: number, noun: string): string | null =>
  amount === 0 ? null : `${amount} ${noun}${amount === 1 ? '' : 's'}`;
