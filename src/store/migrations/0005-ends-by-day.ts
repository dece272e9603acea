import type { Connection } from '../engine/driver.ts';
import { raw } from '../engine/sql.ts';

/** A list by an end reads only those days of a month that lie within its bounds. Decision 0052. */
export async function up(db: Connection): Promise<void> {
  if (!db.keepsPlans) return;
  await db.run(
    raw(`create index licenses_by_end_day on licenses
      (account_id, substr(expires_at, 1, 10), id, expires_at, vendor_disabled, product_id) where expires_at is not null`),
  );
}
