import type { Connection } from '../engine/driver.ts';
import { raw } from '../engine/sql.ts';

/** Lists by an end are merged of the months in which keys end: each has its ids in order. Decision 0052. */
export async function up(db: Connection): Promise<void> {
  await db.run(raw('drop index licenses_by_end'));
  await db.run(
    raw(`create index licenses_by_end on licenses
      (account_id, substr(expires_at, 1, 7), id, expires_at, vendor_disabled, product_id) where expires_at is not null`),
  );
}
