import type { AccountId, HostId, Instant } from '../../contract/scalars.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import type { Device, Fingerprint, License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { phrasesOf, replacePhrases } from '../search.ts';
import { type Changes, json, oldestFirst, optional, tableOf, text } from '../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  licenseId: text('license_id'),
  hostId: text('host_id'),
  id: text('id'),
  deviceTag: optional(text('tag')),
  ipAddress: text<IpAddress>('ip_address'),
  activationTime: text<Instant>('created_at'),
  fingerprint: optional(json<Fingerprint>('fingerprint')),
  publicKey: optional(text('public_key')),
};

const devices = tableOf('devices', columns, ['accountId', 'licenseId']);

type NewDevice = Omit<Device, 'fingerprint' | 'publicKey'> & Partial<Device> & { readonly hostId: HostId };

/** The host that gets the slot of another; its tag stays as it is with null. */
type Rebinding = Pick<Device, 'deviceTag' | 'ipAddress'> & { readonly newHostId: HostId; readonly now: Instant };

/** The devices of licences. */
export const deviceRepository = (db: Connection) => ({
  /** Adds a device; false when the host already is one of this licence. */
  async insert(license: License, device: NewDevice): Promise<boolean> {
    const conflict = sql`on conflict (account_id, license_id, host_id) do nothing`;
    const added = { ...idsOf(license), fingerprint: null, publicKey: null, ...device };
    if (!(await devices.insert(db, added, conflict))) return false;
    await makeFindable(db, license, null, added);
    return true;
  },

  /** Notes what a device has told of itself. */
  note: (license: License, hostId: string, told: Pick<Changes<typeof columns>, 'fingerprint' | 'publicKey'>) =>
    devices.set(db, { ...idsOf(license), hostId }, told),

  find: (license: License, hostId: HostId): Promise<Device | null> => devices.find(db, { ...idsOf(license), hostId }),

  /** Gives the slot of a device to a host without one; null when `hostId` is no device of this licence. */
  async rebind(license: License, hostId: HostId, rebinding: Rebinding): Promise<Device | null> {
    const key = { ...idsOf(license), hostId };
    const before = await devices.find(db, key);
    const { newHostId, deviceTag, ipAddress, now } = rebinding;
    // It is another machine.
    const told = { fingerprint: null, publicKey: null };
    const changes = { hostId: newHostId, deviceTag: deviceTag ?? undefined, ipAddress, activationTime: now, ...told };
    const device = await devices.patch(db, key, changes);
    if (device === null || before === null) return null;
    await makeFindable(db, license, before, device);
    return device;
  },

  /** Oldest first. */
  list: (license: License): Promise<Device[]> => devices.findAll(db, idsOf(license)).then(oldestFirst),

  /** Returns the device; null when the host is no device of this licence. */
  async remove(license: License, hostId: HostId): Promise<Device | null> {
    const [device] = await removeDevices(db, license, { hostId });
    return device ?? null;
  },

  /** Returns them, oldest first. */
  removeAll: (license: License): Promise<Device[]> => removeDevices(db, license).then(oldestFirst),
});

const idsOf = (license: License) => ({ accountId: license.accountId, licenseId: license.id });

async function removeDevices(db: Connection, license: License, which: { hostId?: HostId } = {}): Promise<Device[]> {
  const removed = await devices.take(db, { ...idsOf(license), ...which });
  for (const device of removed) await makeFindable(db, license, device, null);
  return removed;
}

type MaybeDevice = Device | null;

/** Makes a licence findable by a device, in place of what the device was before; null where there is none. */
async function makeFindable(db: Connection, { accountId, id }: License, before: MaybeDevice, after: MaybeDevice) {
  const ownerOf = ({ hostId }: Device) => ({ accountId, kind: 'device', ownerId: id, detail: hostId }) as const;
  const phrasesOfDevice = ({ hostId, deviceTag }: Device) => phrasesOf(hostId, deviceTag);
  if (before !== null) await replacePhrases(db, ownerOf(before), phrasesOfDevice(before), []);
  if (after !== null) await replacePhrases(db, ownerOf(after), [], phrasesOfDevice(after));
}
