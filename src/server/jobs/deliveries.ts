import { addSeconds } from '../../domain/time.ts';
import { FAILING_SECONDS, LONGEST_WAIT_SECONDS } from '../../domain/webhooks/outcome.ts';
import { type DeliveryParts, disable } from '../webhooks/deliver.ts';
import type { Deliverer } from '../webhooks/deliverer.ts';
import { CLOCK_SLACK_SECONDS } from './cleanup.ts';
import type { Job } from './job.ts';

export const DELIVERIES = 'deliveries';

/** How often it looks for due retries without being woken. */
const LOOK_EVERY_MS = 500;

/** The interval where other replicas number events, or leave deliveries to be sent. */
const LOOK_AT_OTHERS_EVERY_MS = 100;

const CLEAN_EVERY_MS = 10 * 60 * 1_000;

const HEALTH_EVERY_MS = 60_000;

/** How long deliveries are kept that were accepted, in seconds. */
const KEPT_SECONDS = 7 * 24 * 60 * 60;

const BATCH_SIZE = 500;

/** The job that starts deliveries; they go on when it has ended. */
export const deliveryJob = (deliverer: Pick<Deliverer, 'dispatch'>, hasOthers: boolean): Job => ({
  name: DELIVERIES,
  everyMs: hasOthers ? LOOK_AT_OTHERS_EVERY_MS : LOOK_EVERY_MS,
  run: () => deliverer.dispatch(),
});

/** The job that disables webhooks that have accepted nothing for five days, whether or not anything happened since. */
export const webhookHealthJob = (parts: Pick<DeliveryParts, 'now' | 'record' | 'log' | 'onRecorded'>): Job => ({
  name: 'webhook-health',
  everyMs: HEALTH_EVERY_MS,
  async run({ transaction }) {
    const at = parts.now();
    const stopped = await transaction(async (repositories) => {
      const failing = await repositories.webhooks.lockFailing(addSeconds(at, -FAILING_SECONDS), at);
      for (const webhook of failing) await disable(parts, repositories, webhook, { reason: 'failing', at });
      return failing.length;
    });
    if (stopped) parts.onRecorded();
  },
});

/**
 * The job that removes deliveries that were accepted long ago; they are a log, so it is not recorded. It also makes
 * deliveries due that wait for longer than the longest wait: the clock was wrong when they were scheduled.
 */
export const deliveryCleanupJob = ({ now }: Pick<DeliveryParts, 'now'>): Job => ({
  name: 'delivery-cleanup',
  everyMs: CLEAN_EVERY_MS,
  async run({ transaction, signal }) {
    const before = addSeconds(now(), -KEPT_SECONDS);
    const latest = addSeconds(now(), LONGEST_WAIT_SECONDS + CLOCK_SLACK_SECONDS);
    await transaction(async ({ deliveries, webhooks }) => {
      await deliveries.makeDue(latest, now());
      await webhooks.makeDue(latest, now());
    });
    for (let removed: number | null = BATCH_SIZE; removed === BATCH_SIZE && !signal.aborted; ) {
      removed = await transaction(({ deliveries }) => deliveries.removeOld(before, BATCH_SIZE));
    }
  },
});
