import type { AccountId } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { integer, text } from '../table.ts';

/** How often the devices of a licence were rebound in a calendar year. */
export const rebindingColumns = {
  accountId: text<AccountId>()('account_id'),
  licenseId: text()('license_id'),
  year: integer()('calendar_year'),
  total: integer()('total'),
};

const count = statement<{ accountId: AccountId; licenseId: string; year: number; most: number }>()((db, $) =>
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

/** The counts of devices that were rebound. */
export const rebindingRepository = (db: Connection) => ({
  /**
   * Counts a rebinding and returns how many there are in this year; null when there are `most` already, which is at
   * least 1, or null for no limit. One statement, so no two callers get the last one.
   */
  async count({ accountId, id }: License, year: number, most: number | null): Promise<number | null> {
    const row = await db.first(count, { accountId, licenseId: id, year, most: most ?? UNLIMITED });
    return row?.total ?? null;
  },
});
