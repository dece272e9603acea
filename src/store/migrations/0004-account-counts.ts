import type { Connection } from '../engine/driver.ts';
import { raw } from '../engine/sql.ts';

/** What was counted of accounts with many keys. Decision 0052. */
export async function up(db: Connection): Promise<void> {
  await db.run(
    raw(`create table account_counts (
      account_id text primary key references accounts (id), counted_at text not null, customers integer not null,
      products text not null
    )`),
  );
}
