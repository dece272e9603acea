import type { HostId, Instant } from '../../contract/scalars.ts';
import type { Device, License } from '../../domain/license.ts';
import type { IpAddress } from '../../domain/mask.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import type { DeviceRow } from '../schema.ts';

const insert = statement<{
  accountId: string;
  licenseId: string;
  hostId: string;
  id: string;
  tag: string | null;
  ipAddress: string;
  now: string;
}>()((db, $) =>
  db
    .insertInto('devices')
    .values({
      account_id: $.accountId,
      license_id: $.licenseId,
      host_id: $.hostId,
      id: $.id,
      tag: $.tag,
      ip_address: $.ipAddress,
      created_at: $.now,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'license_id', 'host_id']).doNothing()),
);

const exists = statement<{ accountId: string; licenseId: string; hostId: string }>()((db, $) =>
  db
    .selectFrom('devices')
    .select('id')
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('host_id', '=', $.hostId),
);

/** A bound on what one answer carries. */
const MAX_LIST_ROWS = 100_000;

const list = statement<{ accountId: string; licenseId: string }>()((db, $) =>
  db
    .selectFrom('devices')
    .selectAll()
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .orderBy('host_id')
    .limit(MAX_LIST_ROWS),
);

const remove = statement<{ accountId: string; licenseId: string; hostId: string }>()((db, $) =>
  db
    .deleteFrom('devices')
    .where('account_id', '=', $.accountId)
    .where('license_id', '=', $.licenseId)
    .where('host_id', '=', $.hostId),
);

const removeAll = statement<{ accountId: string; licenseId: string }>()((db, $) =>
  db.deleteFrom('devices').where('account_id', '=', $.accountId).where('license_id', '=', $.licenseId),
);

/** The devices of licences. */
export const deviceRepository = (db: Connection) => ({
  /** Adds a device; false when the host already is one of this licence. */
  async insert(
    license: License,
    device: { id: string; hostId: HostId; tag: string | null; ipAddress: IpAddress; now: Instant },
  ): Promise<boolean> {
    return (await db.run(insert, { ...addressOf(license), ...device })) === 1;
  },

  async exists(license: License, hostId: HostId): Promise<boolean> {
    return (await db.first(exists, { ...addressOf(license), hostId })) !== undefined;
  },

  /** All devices of a licence, oldest first. */
  async list(license: License): Promise<Device[]> {
    const rows = await db.all(list, addressOf(license));
    // Here, and not there: a licence has few devices, and the database would sort beside its index.
    return rows.map(toDevice).sort((a, b) => (a.id < b.id ? -1 : 1));
  },

  /** Removes one device; false when the host is none of this licence. */
  async remove(license: License, hostId: HostId): Promise<boolean> {
    return (await db.run(remove, { ...addressOf(license), hostId })) === 1;
  },

  /** Removes every device and counts them. */
  removeAll(license: License): Promise<number> {
    return db.run(removeAll, addressOf(license));
  },
});

const addressOf = (license: License) => ({ accountId: license.accountId, licenseId: license.id });

const toDevice = (row: DeviceRow): Device => ({
  id: row.id,
  hostId: row.host_id,
  deviceTag: row.tag,
  ipAddress: row.ip_address as IpAddress,
  activationTime: row.created_at as Instant,
});
