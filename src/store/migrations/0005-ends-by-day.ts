import type { Connection } from '../engine/driver.ts';
import { raw } from '../engine/sql.ts';

/** Of the month of a bound, lists by an end read only the days within it, where days can be parts of a statement. Decision 0052. */
export async function up(db: Connection): Promise<void> {
  if (!db.keepsPlans) return;
  await db.run(
    raw(`create index licenses_by_end_day on licenses
      (account_id, substr(expires_at, 1, 10), id, expires_at, vendor_disabled, product_id) where expires_at is not null`),
  );
}
