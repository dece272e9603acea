import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { Fingerprint, License } from '../../domain/license.ts';
import type { SlotPromise } from '../../domain/slots.ts';
import type { Connection } from '../engine/driver.ts';
import { sql } from '../engine/sql.ts';
import { integer, json, optional, tableOf, text } from '../table.ts';

const columns = {
  accountId: text<AccountId>('account_id'),
  licenseId: text('license_id'),
  hostId: text('host_id'),
  calendarYear: integer('calendar_year'),
  promisedAt: text<Instant>('promised_at'),
  fingerprint: optional(json<Fingerprint>('fingerprint')),
};

const promises = tableOf('slot_promises', columns, ['accountId', 'licenseId', 'calendarYear']);

/** The slots that are promised to hosts. The caller has locked the licence and keeps its `promisedSlots`. */
export const slotPromiseRepository = (db: Connection) => ({
  /** Adds a promise of this year, and removes promises of earlier years, which are void. */
  async add({ accountId, id }: License, calendarYear: number, promise: SlotPromise): Promise<void> {
    await db.run(sql`
      delete from slot_promises
      where account_id = ${accountId} and license_id = ${id} and calendar_year < ${calendarYear}`);
    await promises.add(db, { accountId, licenseId: id, calendarYear, ...promise });
  },

  find: ({ accountId, id }: License, calendarYear: number, hostId: string): Promise<SlotPromise | null> =>
    promises.find(db, { accountId, licenseId: id, calendarYear, hostId }),

  /** The oldest promises of a year, up to a number. */
  list: ({ accountId, id }: License, calendarYear: number, count: number): Promise<SlotPromise[]> =>
    promises.all(db)`
      select * from slot_promises
      where account_id = ${accountId} and license_id = ${id} and calendar_year = ${calendarYear}
      order by promised_at, host_id limit ${count}`,

  /** Removes a promise, or all. */
  remove: ({ accountId, id }: License, promise?: SlotPromise): Promise<number> =>
    promises.remove(db, { accountId, licenseId: id, ...(promise && { hostId: promise.hostId }) }),
});
