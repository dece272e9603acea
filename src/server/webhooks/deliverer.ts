import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import type { ConcurrencyLimit } from '../http/concurrency-limit.ts';
import { type DeliveryParts, deliverTo, leaseEnd } from './deliver.ts';

const MAX_WEBHOOKS_AT_ONCE = 256;

export type Deliverer = ReturnType<typeof createDeliverer>;

type Webhook = Pick<WebhookRecord, 'accountId' | 'id'>;

/** Sends events to webhooks, to each in a run of its own, so that a slow one holds up no other. */
export function createDeliverer(parts: DeliveryParts, newLease: () => string) {
  const { store, now, realTime, log } = parts;
  const stopping = new AbortController();
  /** The ids of the webhooks that have a run. */
  const busy = new Set<string>();
  const runs = new Set<Promise<void>>();
  let dispatches = 0;

  async function deliverDue({ accountId, id }: Webhook): Promise<void> {
    const lease = newLease();
    let seen = dispatches;
    try {
      const times = { realTime: realTime(), until: leaseEnd(parts) };
      const claimed = await store.transaction(({ webhooks }) => webhooks.claim({ accountId, id }, { lease, ...times }));
      if (claimed !== null) {
        seen = dispatches;
        try {
          await deliverTo(parts, claimed, stopping.signal);
        } finally {
          await store.transaction(({ webhooks }) => webhooks.release(lease));
        }
      }
      busy.delete(id);
      // A dispatch after its last look, and before the lease was released, has passed this webhook over.
      if (seen !== dispatches) await dispatch();
    } catch (error) {
      busy.delete(id);
      // The lease ends by itself, and what was due still is.
      log.error({ err: error, webhook: id }, 'delivery failed');
    }
  }

  /** Starts a run for each webhook that has something to send and no run. Does not wait for the runs. */
  async function dispatch(): Promise<void> {
    dispatches += 1;
    if (stopping.signal.aborted) return;
    for (const webhook of await store.repositories.webhooks.listDue(now(), realTime())) {
      if (busy.size >= MAX_WEBHOOKS_AT_ONCE) return;
      if (busy.has(webhook.id)) continue;
      busy.add(webhook.id);
      const run = deliverDue(webhook).finally(() => runs.delete(run));
      runs.add(run);
    }
  }

  async function idle(): Promise<void> {
    while (runs.size > 0) await Promise.all(runs);
  }

  return {
    dispatch,
    idle,
    /** Ends all runs, and releases their leases for other servers. */
    async stop(): Promise<void> {
      stopping.abort();
      await idle();
    },
  };
}

/** A server is busy while at least so many requests run. */
const BUSY_REQUESTS = 8;

/** How long each batch of events waits on a busy server. */
const BATCH_EVERY_MS = 20;

/** Makes deliveries give way to requests: while the server is busy, one batch after the other is sent, not all at once. */
export function createGiveWay({ load }: Pick<ConcurrencyLimit, 'load'>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(async () => {
      if (load().running >= BUSY_REQUESTS) await sleep(BATCH_EVERY_MS);
    });
    return last;
  };
}
