import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import { type DeliveryParts, deliverTo, leaseEnd } from './deliver.ts';

/** How many webhooks one server works for at one time. */
const MAX_WEBHOOKS_AT_ONCE = 256;

export type Deliverer = ReturnType<typeof createDeliverer>;

/**
 * Sends events to webhooks, to each in a run of its own, so that a slow one holds up no other.
 *
 * @param newLease names a lease that nobody has
 */
export function createDeliverer(parts: DeliveryParts, newLease: () => string) {
  const stopping = new AbortController();
  const inWork = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let dispatches = 0;

  async function deliverDue({ accountId, id }: Webhook): Promise<void> {
    const { store, realTime, log } = parts;
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
      inWork.delete(id);
      // It may have been asked for while it had looked already and still held its lease.
      if (seen !== dispatches) await dispatch();
    } catch (error) {
      inWork.delete(id);
      // The lease ends by itself, and what was due still is.
      log.error({ err: error, webhook: id }, 'delivery failed');
    }
  }

  function start(webhook: Webhook): void {
    inWork.add(webhook.id);
    const delivery = deliverDue(webhook).finally(() => underWay.delete(delivery));
    underWay.add(delivery);
  }

  /** Starts a run for each webhook with something to send that nobody works for. Does not wait for them. */
  async function dispatch(): Promise<void> {
    dispatches += 1;
    if (stopping.signal.aborted) return;
    const { store, now, realTime } = parts;
    for (const webhook of await store.repositories.webhooks.listDue(now(), realTime())) {
      if (inWork.size >= MAX_WEBHOOKS_AT_ONCE) return;
      if (!inWork.has(webhook.id)) start(webhook);
    }
  }

  /** Resolves once no run is under way. */
  async function idle(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
  }

  return {
    dispatch,
    idle,
    /** Ends what is under way, and hands it on. */
    async stop(): Promise<void> {
      stopping.abort();
      await idle();
    },
  };
}

type Webhook = Pick<WebhookRecord, 'accountId' | 'id'>;
