import type { Base } from '../base.ts';
import { deliveryCleanupJob, deliveryJob, webhookHealthJob } from '../jobs/deliveries.ts';
import type { Job } from '../jobs/job.ts';
import type { DeliveryParts } from './deliver.ts';
import { createDeliverer } from './deliverer.ts';
import { createSender, type SenderOptions } from './send.ts';

export interface WebhookOptions extends Partial<SenderOptions> {
  /** The header of timestamped signatures; `LKM-Signature` unless given. */
  readonly signatureHeader?: string | undefined;
  /** The waits after failed attempts, in seconds; the waits of Standard Webhooks unless given. */
  readonly schedule?: readonly number[];
  /** How long webhooks of a server that died wait until another server takes them over, in seconds (15). */
  readonly leaseSeconds?: number;
}

/** Opens the sending of webhooks; returns its jobs. `onClose` registers what ends it. */
export function openWebhooks(
  { schedule, leaseSeconds, signatureHeader, allowPrivate = false, ...sending }: WebhookOptions,
  parts: Base['parts'] & Pick<DeliveryParts, 'log' | 'onRecorded' | 'onAttempt'>,
  onClose: (close: () => void | Promise<void>) => void,
): readonly Job[] {
  const sender = createSender({ allowPrivate, ...sending });
  onClose(() => sender.close());
  const delivering = { ...parts, sender, schedule, leaseSeconds, signatureHeader };
  const deliverer = createDeliverer(delivering, parts.newRequestId);
  onClose(deliverer.stop);
  return [deliveryJob(deliverer, !parts.store.isOnlyWriter), webhookHealthJob(delivering), deliveryCleanupJob(parts)];
}
