import type { AccountId, HostId, Instant } from '../../contract/scalars.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import type { Device, License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { listsOf } from '../lists.ts';
import { phrasesOf } from '../search.ts';
import { byKey, insertInto, integer, optional, readerOf, type Table, text } from '../table.ts';
import { addPhrases, removePhrases } from './keys/search-phrases.ts';

export const deviceColumns = {
  accountId: text<AccountId>()('account_id'),
  licenseId: text()('license_id'),
  hostId: text()('host_id'),
  id: text()('id'),
  deviceTag: optional(text()('tag')),
  ipAddress: text<IpAddress>()('ip_address'),
  activationTime: text<Instant>()('created_at'),
};

/** How often the devices of a licence were rebound in a calendar year. */
export const rebindingColumns = {
  accountId: text<AccountId>()('account_id'),
  licenseId: text()('license_id'),
  year: integer()('calendar_year'),
  total: integer()('total'),
};

const devices: Table<typeof deviceColumns> = { name: 'devices', columns: deviceColumns };
const insert = insertInto(devices, { skipConflictsOn: { columns: ['account_id', 'license_id', 'host_id'] } });
const toDevice = readerOf(devices, ['id', 'hostId', 'deviceTag', 'ipAddress', 'activationTime']);
const byHost = byKey(devices, ['accountId', 'licenseId', 'hostId'], toDevice);
const byLicense = byKey(devices, ['accountId', 'licenseId'], toDevice);
const lists = listsOf(devices, toDevice, { scope: ['accountId', 'licenseId'], order: 'hostId', conditions: {} });

const rebind = statement<Rebinding & { accountId: AccountId; licenseId: string; hostId: HostId }>()((db, $) =>
  db
    .updateTable('devices')
    .set((d) => ({
      host_id: $.newHostId,
      tag: d.fn.coalesce(d.val($.deviceTag), 'tag'),
      ip_address: $.ipAddress,
      created_at: $.now,
    }))
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('host_id', '=', $.hostId)
    .returningAll(),
);

const countRebinding = statement<{ accountId: AccountId; licenseId: string; year: number; most: number }>()((db, $) =>
  db
    .insertInto('rebindings')
    .values({ account_id: $.accountId, license_id: $.licenseId, calendar_year: $.year, total: 1 })
    .onConflict((on) =>
      on
        .columns(['account_id', 'license_id', 'calendar_year'])
        .doUpdateSet((r) => ({ total: r('rebindings.total', '+', 1) }))
        .where('rebindings.total', '<', $.most),
    )
    .returning('total'),
);

/** Any number: more than anybody rebinds. */
const UNLIMITED = 2_147_483_647;

/** A device to be added. */
export interface NewDevice {
  readonly id: string;
  readonly hostId: HostId;
  readonly deviceTag: string | null;
  readonly ipAddress: IpAddress;
  readonly activationTime: Instant;
}

/** The host that gets the slot of another. */
export interface Rebinding {
  readonly newHostId: HostId;
  /** Null leaves it as it is. */
  readonly deviceTag: string | null;
  readonly ipAddress: IpAddress;
  readonly now: Instant;
}

/** The devices of licences. */
export const deviceRepository = (db: Connection) => ({
  /** Adds a device; false when the host already is one of this licence. */
  async insert(license: License, device: NewDevice): Promise<boolean> {
    if ((await db.run(insert, { ...idsOf(license), ...device })) === 0) return false;
    await addPhrases(db, ownerOf(license, device.hostId), phrasesOf(device.hostId, device.deviceTag));
    return true;
  },

  /** The device of this host. */
  find: (license: License, hostId: HostId): Promise<Device | null> => byHost.find(db, { ...idsOf(license), hostId }),

  /** Gives the slot of a host to another one that is no device; null when the host is none of this licence. */
  async rebind(license: License, hostId: HostId, rebinding: Rebinding): Promise<Device | null> {
    const before = await byHost.find(db, { ...idsOf(license), hostId });
    const row = await db.first(rebind, { ...idsOf(license), hostId, ...rebinding });
    if (row === undefined || before === null) return null;
    await forget(db, license, before);
    const device = toDevice(row);
    await addPhrases(db, ownerOf(license, device.hostId), phrasesOf(device.hostId, device.deviceTag));
    return device;
  },

  /**
   * Counts a rebinding and returns how many there are in this year; null when there are `most` already, which is at
   * least 1, or null for no limit. One statement, so no two callers get the last one.
   */
  async countRebinding({ accountId, id }: License, year: number, most: number | null): Promise<number | null> {
    const row = await db.first(countRebinding, { accountId, licenseId: id, year, most: most ?? UNLIMITED });
    return row?.total ?? null;
  },

  /** All devices of a licence, oldest first. */
  async list(license: License): Promise<Device[]> {
    return oldestFirst(await lists.all(db, idsOf(license)));
  },

  /** Removes one device and returns it; null when the host is none of this licence. */
  async remove(license: License, hostId: HostId): Promise<Device | null> {
    const [device] = await byHost.take(db, { ...idsOf(license), hostId });
    if (device === undefined) return null;
    await forget(db, license, device);
    return device;
  },

  /** Removes every device and returns them, oldest first. */
  async removeAll(license: License): Promise<Device[]> {
    const devices = await byLicense.take(db, idsOf(license));
    for (const device of devices) await forget(db, license, device);
    return oldestFirst(devices);
  },
});

/** Sorted here: a licence has few devices, and the database would sort beside its index. */
const oldestFirst = (devices: Device[]): Device[] => devices.sort((a, b) => (a.id < b.id ? -1 : 1));

const idsOf = (license: License) => ({ accountId: license.accountId, licenseId: license.id });

const ownerOf = ({ accountId, id }: License, hostId: string) =>
  ({ accountId, kind: 'device', ownerId: id, detail: hostId }) as const;

/** Takes a device that was removed from what licences are found by. */
const forget = (db: Connection, license: License, { hostId, deviceTag }: Pick<Device, 'hostId' | 'deviceTag'>) =>
  removePhrases(db, ownerOf(license, hostId), phrasesOf(hostId, deviceTag));
