import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { raw, sql } from '../../engine/sql.ts';
import { licenses } from './licenses.ts';

/** The size of a batch, which bounds how long other writes wait. */
const BATCH_SIZE = 50;

/**
 * The condition that a licence expires by `until` and is in a stage: 0 for nothing recorded yet, 1 for the announcement recorded.
 * Repeats the expressions of the index `licenses_to_record`, which SQLite uses only then.
 */
const isDue = (stage: 0 | 1, until: Instant) => sql`
  expires_at is not null and expired_recorded_for is distinct from expires_at and expires_at <= ${until}
  and (case when soon_recorded_for is distinct from expires_at then 0 else 1 end) = ${raw(String(stage))}`;

/** The expiry of a licence for which its events were recorded. A changed expiry gets events of its own. */
export const licenseExpiryRepository = (db: Connection) => {
  /** Notes in a column that the event for the present expiry is recorded, for a batch of licences. */
  async function mark(column: string, stage: 0 | 1, accountId: AccountId, until: Instant): Promise<License[]> {
    // The condition stands twice, since the expiry may change between the select and the update.
    const marked = await licenses.all(db)`
      update licenses set ${raw(column)} = expires_at
      where account_id = ${accountId} and ${isDue(stage, until)} and id in (
        select id from licenses where account_id = ${accountId} and ${isDue(stage, until)}
        order by expires_at, id limit ${BATCH_SIZE})
      returning *`;
    return marked.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  }
  return {
    /** Marks a batch of licences that expire by an instant as announced, and returns them. */
    markSoon: (accountId: AccountId, until: Instant) => mark('soon_recorded_for', 0, accountId, until),

    /** Marks a batch of announced licences that have expired as recorded, and returns them. */
    markExpired: (accountId: AccountId, until: Instant) => mark('expired_recorded_for', 1, accountId, until),

    /** Marks an expired licence as recorded, without events. */
    markRecorded: ({ accountId, id }: License) =>
      db.run(sql`
        update licenses set soon_recorded_for = expires_at, expired_recorded_for = expires_at
        where account_id = ${accountId} and id = ${id}`),

    /** Whether a batch of `count` licences is full, so that more may be due. */
    isFullBatch: (count: number): boolean => count === BATCH_SIZE,
  };
};

const orderOf = ({ expirationDate, id }: License): string => `${expirationDate} ${id}`;
