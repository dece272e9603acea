import type { Instant } from '../../../contract/scalars.ts';
import type { Connection } from '../../engine/driver.ts';
import { statement } from '../../engine/statement.ts';

// What is put right when a clock was wrong: times that it has written say nothing.

const retryNow = statement<{ latest: Instant; now: Instant }>()((db, $) =>
  db.updateTable('webhooks').set({ retry_at: $.now }).where('retry_at', '>', $.latest),
);

const endPauses = statement<{ latest: Instant }>()((db, $) =>
  db.updateTable('webhooks').set({ paused_until: null }).where('paused_until', '>', $.latest),
);

const endLeases = statement<{ latest: Instant }>()((db, $) =>
  db.updateTable('webhooks').set({ lease: null, lease_until: null }).where('lease_until', '>', $.latest),
);

const failingFrom = statement<{ now: Instant }>()((db, $) =>
  db.updateTable('webhooks').set({ failing_since: $.now }).where('failing_since', 'is not', null),
);

/** Makes webhooks due now that would be due after an instant, and ends pauses and leases that would last longer. */
export async function makeWebhooksDue(db: Connection, latest: Instant, now: Instant): Promise<void> {
  await db.run(retryNow, { latest, now });
  await db.run(endPauses, { latest });
  await db.run(endLeases, { latest });
}

/** Webhooks that fail have failed from now on only. */
export async function restartFailing(db: Connection, now: Instant): Promise<void> {
  await db.run(failingFrom, { now });
}
