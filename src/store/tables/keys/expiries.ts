import type { AccountId, Instant } from '../../../contract/scalars.ts';
import type { License } from '../../../domain/license.ts';
import type { Connection } from '../../engine/driver.ts';
import { raw, sql } from '../../engine/sql.ts';
import { licenses } from './licenses.ts';

/** The size of a batch, which bounds how long other writes wait. */
const BATCH_SIZE = 50;

/**
 * Whether a licence ends by then and is not marked as expired: for stage 0 not marked at all, for stage 1 marked as ending
 * soon. In the words of the index.
 */
const isDue = (stage: 0 | 1, until: Instant) => sql`
  expires_at is not null and expired_recorded_for is distinct from expires_at and expires_at <= ${until}
  and (case when soon_recorded_for is distinct from expires_at then 0 else 1 end) = ${raw(String(stage))}`;

/** The ends of licences for which events were recorded; a moved end is recorded again. */
export const licenseExpiryRepository = (db: Connection) => {
  /** Notes the end for which an event is recorded. */
  async function mark(column: string, stage: 0 | 1, accountId: AccountId, until: Instant): Promise<License[]> {
    // The condition is repeated outside: the term may change between the two steps of the statement.
    const marked = await licenses.all(db)`
      update licenses set ${raw(column)} = expires_at
      where account_id = ${accountId} and ${isDue(stage, until)} and id in (
        select id from licenses where account_id = ${accountId} and ${isDue(stage, until)}
        order by expires_at, id limit ${BATCH_SIZE})
      returning *`;
    return marked.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  }
  return {
    /** Marks a batch of licences that end by an instant as announced, each once per end, and returns them. */
    markSoon: (accountId: AccountId, until: Instant) => mark('soon_recorded_for', 0, accountId, until),

    /** Marks a batch of ended licences as recorded, and returns them. Licences not yet announced wait. */
    markExpired: (accountId: AccountId, until: Instant) => mark('expired_recorded_for', 1, accountId, until),

    /** Marks an ended licence as recorded, without an event. */
    markRecorded: ({ accountId, id }: License) =>
      db.run(sql`
        update licenses set soon_recorded_for = expires_at, expired_recorded_for = expires_at
        where account_id = ${accountId} and id = ${id}`),

    /** Whether a batch of this size is full, so that there may be more. */
    isFullBatch: (count: number): boolean => count === BATCH_SIZE,
  };
};

const orderOf = ({ expirationDate, id }: License): string => `${expirationDate} ${id}`;
