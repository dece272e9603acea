import type { AccountId, HostId, Instant } from '../../contract/scalars.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import type { Device, Fingerprint, License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { listsOf, type Page } from '../lists.ts';
import { licenseWords, replaceWords, wordsOf } from '../search.ts';
import { type Changes, json, oldestFirst, optional, type Row, tableOf, text } from '../table.ts';
import { besideHeld, isOfProducts, isUnseenSince, readHeld } from './keys/licenses.ts';

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
  lastSeenOn: optional(text('last_seen_on')),
};

const devices = tableOf('devices', columns, ['accountId', 'licenseId']);
const read = (row: Row) => ({ ...devices.read(row), ...readHeld(row) });
const lists = listsOf({ ...devices, read }, 'id', { beside: besideHeld });

type NewDevice = Omit<Device, 'fingerprint' | 'publicKey' | 'lastSeenOn'> &
  Partial<Device> & { readonly hostId: HostId };

/** The host that gets the slot of a device. With a null `deviceTag` the tag of the device stays. */
type Rebinding = Pick<Device, 'deviceTag' | 'ipAddress'> & { readonly newHostId: HostId; readonly now: Instant };

/** The filters of a list of devices. */
export interface DeviceFilters {
  /** Null means of any product. */
  readonly productIds: readonly string[] | null;
  readonly customerId?: string | undefined;
  /** A day, UTC. */
  readonly unseenSince?: string | undefined;
}

/** The devices of licences. */
export const deviceRepository = (db: Connection) => ({
  /** Adds a device; false when the host already is a device of this licence. */
  async insert(license: License, device: NewDevice): Promise<boolean> {
    const conflict = sql`on conflict (account_id, license_id, host_id) do nothing`;
    const added = { ...idsOf(license), fingerprint: null, publicKey: null, lastSeenOn: null, ...device };
    if (!(await devices.insert(db, added, conflict))) return false;
    await updateSearch(db, license, null, added);
    return true;
  },

  /** Updates the fingerprint and the public key of a device, and the day it was seen. */
  updateMachine: (
    license: License,
    hostId: string,
    machine: Pick<Changes<typeof columns>, 'fingerprint' | 'publicKey' | 'lastSeenOn'>,
  ) => devices.set(db, { ...idsOf(license), hostId }, machine),

  /** Notes the day on which a device was seen, unless it was seen on that day or later. Does nothing for other hosts. */
  markSeen: (license: License, hostId: string, day: string) =>
    db.send(sql`
      update devices set last_seen_on = ${day} where account_id = ${license.accountId} and license_id = ${license.id}
        and host_id = ${hostId} and coalesce(last_seen_on, '') < ${day}`),

  find: (license: License, hostId: HostId): Promise<Device | null> => devices.find(db, { ...idsOf(license), hostId }),

  /** Gives the slot of a device to a host without a slot; null when `hostId` is no device of this licence. */
  async rebind(license: License, hostId: HostId, rebinding: Rebinding): Promise<Device | null> {
    const key = { ...idsOf(license), hostId };
    const before = await devices.find(db, key);
    const { newHostId, deviceTag, ipAddress, now } = rebinding;
    // The fingerprint and the public key of the old machine do not apply.
    const machine = { fingerprint: null, publicKey: null, lastSeenOn: now.slice(0, 10) };
    const changes = {
      hostId: newHostId,
      deviceTag: deviceTag ?? undefined,
      ipAddress,
      activationTime: now,
      ...machine,
    };
    const device = await devices.patch(db, key, changes);
    if (device === null || before === null) return null;
    await updateSearch(db, license, before, device);
    return device;
  },

  /** A page of the devices of all licences, oldest first. A device that is added during the walk comes last. */
  page(accountId: AccountId, { productIds, customerId, unseenSince }: DeviceFilters, page: Page) {
    const conditions = [isOfProducts(accountId, 'devices.license_id', productIds)];
    if (unseenSince !== undefined) conditions.push(isUnseenSince('devices', unseenSince));
    const ofCustomer = sql`
      select d.id from licenses as l join devices as d on d.account_id = l.account_id and d.license_id = l.id
      where l.account_id = ${accountId} and l.customer_id = ${customerId ?? null}`;
    const found = customerId === undefined ? undefined : ofCustomer;
    return lists.of(db, { accountId }, { conditions, found }).part(page);
  },

  /** Oldest first. */
  list: (license: License): Promise<Device[]> => devices.findAll(db, idsOf(license)).then(oldestFirst),

  /** Returns the device; null when the host is no device of this licence. */
  async remove(license: License, hostId: HostId): Promise<Device | null> {
    const [device] = await removeDevices(db, license, { hostId });
    return device ?? null;
  },

  /** Removes the devices and returns them, oldest first. */
  removeAll: (license: License): Promise<Device[]> => removeDevices(db, license).then(oldestFirst),
});

const idsOf = (license: License) => ({ accountId: license.accountId, licenseId: license.id });

async function removeDevices(db: Connection, license: License, which: { hostId?: HostId } = {}): Promise<Device[]> {
  const removed = await devices.take(db, { ...idsOf(license), ...which });
  for (const device of removed) await updateSearch(db, license, device, null);
  return removed;
}

/** Updates the words by which a device is found. `before` is null for a new device, `after` for a removed one. */
async function updateSearch(db: Connection, { accountId, id }: License, before: Device | null, after: Device | null) {
  const ownerOf = ({ hostId }: Device) => ({ accountId, licenseId: id, hostId });
  const words = ({ hostId, deviceTag }: Device) => wordsOf(hostId, deviceTag);
  if (before !== null) await replaceWords(db, licenseWords, ownerOf(before), words(before), '');
  if (after !== null) await replaceWords(db, licenseWords, ownerOf(after), '', words(after));
}
