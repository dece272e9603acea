import { addSeconds } from '../../domain/time.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import { type DeliveryParts, deliverTo } from './deliver.ts';

const MAX_WEBHOOKS_AT_ONCE = 256;

const LEASE_SECONDS = 15;

export type Deliverer = ReturnType<typeof createDeliverer>;

type Webhook = Pick<WebhookRecord, 'accountId' | 'id'>;

/** Sends events to webhooks. Each webhook has a run of its own, so that a slow receiver delays no other. */
export function createDeliverer(parts: DeliveryParts, newLease: () => string) {
  const { store, now, realTime, log, leaseSeconds = LEASE_SECONDS } = parts;
  const lease = newLease();
  const leaseEnd = () => addSeconds(realTime(), leaseSeconds);
  const stopping = new AbortController();
  /** By the id of a webhook, the function that wakes its run. */
  const busy = new Map<string, () => void>();
  const runs = new Set<Promise<void>>();
  let dispatches = 0;

  /** Leases are short, so that the leases of a dead server end soon; a working server prolongs its leases. */
  const prolonging = setInterval(() => {
    if (runs.size === 0) return;
    const prolonged = store.transaction(({ webhooks }) => webhooks.prolong(lease, leaseEnd()));
    prolonged.catch((error: unknown) => log.error({ err: error }, 'leases of webhooks not prolonged'));
  }, leaseSeconds * 333).unref();

  async function deliverDue({ accountId, id }: Webhook): Promise<void> {
    let seen = dispatches;
    const woken = () => {
      seen = dispatches;
      return new Promise<void>((resolve) => busy.set(id, resolve));
    };
    try {
      const times = { realTime: realTime(), until: leaseEnd() };
      const claimed = await store.transaction(({ webhooks }) => webhooks.claim({ accountId, id }, { lease, ...times }));
      if (claimed !== null) {
        try {
          await deliverTo(parts, claimed, { stopping: stopping.signal, woken });
        } finally {
          await store.transaction(({ webhooks }) => webhooks.release({ accountId, id }, lease));
        }
      }
      busy.delete(id);
      // A dispatch since the last check of this run has skipped the webhook, since its lease was taken.
      if (seen !== dispatches) await dispatch();
    } catch (error) {
      busy.delete(id);
      // The lease ends by itself, and due events stay due.
      log.error({ err: error, webhook: id }, 'delivery failed');
    }
  }

  /** Starts a run for each webhook with due events, or wakes its run. Does not wait for the runs. */
  async function dispatch(): Promise<void> {
    dispatches += 1;
    if (stopping.signal.aborted) return;
    for (const webhook of await store.repositories.webhooks.listDue({ now: now(), realTime: realTime(), lease })) {
      const wake = busy.get(webhook.id);
      wake?.();
      if (wake !== undefined || busy.size >= MAX_WEBHOOKS_AT_ONCE) continue;
      busy.set(webhook.id, () => {});
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
    /** Ends all runs and releases their leases, for other servers to take. */
    async stop(): Promise<void> {
      clearInterval(prolonging);
      stopping.abort();
      await idle();
    },
  };
}
