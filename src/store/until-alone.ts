import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Tables } from './schema.ts';
import { StartupError } from './startup-error.ts';

/** How long servers that were just stopped may still be connected. */
const CONNECTED_TIMEOUT_MS = 2_000;
const CONNECTED_PAUSE_MS = 100;

/** Waits until nobody else of lkm is connected to a PostgreSQL database. Throws StartupError when somebody stays for seconds. */
export async function untilAlone(db: Kysely<Tables>): Promise<void> {
  for (let waited = 0; ; waited += CONNECTED_PAUSE_MS) {
    const { rows } = await sql<{ others: number }>`
      select count(*)::int as others from pg_stat_activity
      where datname = current_database() and application_name = 'lkm' and pid <> pg_backend_pid()
    `.execute(db);
    const others = rows[0]?.others ?? 0;
    if (others === 0) return;
    if (waited >= CONNECTED_TIMEOUT_MS) {
      throw new StartupError(`the database is in use: ${others} connections of lkm`, 'stop every server on it first');
    }
    await sleep(CONNECTED_PAUSE_MS);
  }
}
