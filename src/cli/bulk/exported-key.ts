import type { Customer } from '../../contract/customers.ts';
import type { Device } from '../../contract/keys/licenses.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { guard } from './reading/read-csv.ts';

/** A customer as an export shows it. */
export type Owner = Pick<Customer, 'id' | 'name' | 'email' | 'active'>;

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
    devices: devices.map(exportedDevice).sort(inOrder),
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

type ExportedDevice = Pick<Device, 'activationTime' | 'hostId'>;

const inOrder = (a: ExportedDevice, b: ExportedDevice): number =>
  `${a.activationTime} ${a.hostId}` < `${b.activationTime} ${b.hostId}` ? -1 : 1;

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
  const header = [...before, ...names.map((name) => guard(`metadata.${name}`)), ...after, 'metadata'];
  return stringify([key === null ? header : cellsOf(key, names)]);
}

const before = [
  ...(['productId', 'key', 'maxActivations', 'expirationDate'] as const),
  ...(['customerEmail', 'customerName', 'createdAt'] as const),
];

const after = [
  ...(['devices', 'id', 'customerId', 'customerActive', 'reference', 'expiresAfter', 'gracePeriod'] as const),
  ...(['licenseType', 'maxConcurrentSessions', 'heartbeatInterval', 'sessionLeaseDuration', 'allowedHosts'] as const),
  ...(['customerCanSelfReset', 'vendorDisabled', 'version', 'trial', 'features'] as const),
];

function cellsOf(key: ExportedKey, names: readonly string[]): string[] {
  const { texts, others } = ownMetadata(key.metadata);
  const own = Object.entries(texts).filter(([name]) => !names.includes(name));
  return [
    ...before.map((name) => cell(key[name])),
    ...names.map((name) => cell(texts[name])),
    ...after.map((name) => cell(key[name])),
    cell({ ...others, ...Object.fromEntries(own) }),
  ];
}

/** What is empty is an empty cell. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return guard(String(value));
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
