import type { Device } from '../../contract/keys/licenses.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { guard } from './reading/read-csv.ts';

/** A customer as an export shows it. */
export interface Owner {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly active: boolean;
}

/** A key as `keys import` reads it. */
export type ExportedKey = ReturnType<typeof exportedKey>;

/** What is exported of a key. Devices are ordered by what is exported of them, so that the same key gives the same text. */
export function exportedKey(license: ListedLicense, owner: Owner | null, devices: readonly Device[]) {
  const { features, is_trial: trial, ...metadata } = license.metadata ?? { features: {}, is_trial: false };
  return {
    productId: license.productId,
    key: license.key,
    maxActivations: license.maxActivations,
    expirationDate: license.expirationDate,
    customerEmail: owner?.email ?? null,
    customerName: owner?.name ?? null,
    createdAt: license.createdAt,
    metadata,
    devices: devices.map(exportedDevice).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)),
    id: license.id,
    customerId: owner?.id ?? null,
    customerActive: owner?.active ?? null,
    reference: license.reference ?? null,
    expiresAfter: license.expiresAfter ?? null,
    gracePeriod: license.gracePeriod ?? null,
    licenseType: license.licenseType,
    maxConcurrentSessions: license.maxConcurrentSessions ?? null,
    heartbeatInterval: license.heartbeatInterval,
    sessionLeaseDuration: license.sessionLeaseDuration,
    allowedHosts: license.allowedHosts ?? null,
    customerCanSelfReset: license.customerCanSelfReset,
    vendorDisabled: license.vendorDisabled,
    version: license.version?.version ?? null,
    trial,
    features,
  };
}

const exportedDevice = ({ hostId, deviceTag, ipAddress, activationTime }: Device) => ({
  hostId,
  deviceTag,
  ipAddress,
  activationTime,
});

const orderOf = ({ activationTime, hostId }: Pick<Device, 'activationTime' | 'hostId'>): string =>
  `${activationTime} ${hostId}`;

/** The free entries of metadata: those that have a column of their own in CSV, and the others. */
export function ownMetadata(metadata: Readonly<Record<string, unknown>>) {
  const texts: Record<string, string> = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(metadata)) {
    if (name === 'features' || name === 'is_trial') continue;
    // A cell cannot tell an empty text from none, and a number from its digits.
    if (typeof value === 'string' && value !== '' && name.trim() === name) texts[name] = value;
    else others[name] = value;
  }
  return { texts, others };
}

/** A line of CSV; the header for null. `names` are those of metadata with columns of their own. */
export async function csvLine(key: ExportedKey | null, names: readonly string[]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  return stringify([key === null ? header(names) : cellsOf(key, names)]);
}

const before = [
  'productId',
  'key',
  'maxActivations',
  'expirationDate',
  'customerEmail',
  'customerName',
  'createdAt',
] as const;

const after = [
  'devices',
  'id',
  'customerId',
  'customerActive',
  'reference',
  'expiresAfter',
  'gracePeriod',
  'licenseType',
  'maxConcurrentSessions',
  'heartbeatInterval',
  'sessionLeaseDuration',
  'allowedHosts',
  'customerCanSelfReset',
  'vendorDisabled',
  'version',
  'trial',
  'features',
] as const;

const header = (names: readonly string[]): string[] => [
  ...before,
  ...names.map((name) => guard(`metadata.${name}`)),
  ...after,
  'metadata',
];

function cellsOf(key: ExportedKey, names: readonly string[]): string[] {
  const { texts, others } = ownMetadata(key.metadata);
  const known = new Set(names);
  const rest = { ...others, ...Object.fromEntries(Object.entries(texts).filter(([name]) => !known.has(name))) };
  return [
    ...before.map((name) => cell(key[name])),
    ...names.map((name) => cell(texts[name])),
    ...after.map((name) => cell(key[name])),
    Object.keys(rest).length === 0 ? '' : cell(rest),
  ];
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return guard(String(value));
  const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
  return isEmpty ? '' : JSON.stringify(value);
}
