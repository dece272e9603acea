import { apiError } from '../../contract/errors.ts';
import { type Instant, MAX_SEQ } from '../../contract/scalars.ts';
import type { webhookDeliveries } from '../../contract/webhooks.ts';
import type { Repositories } from '../../store/store.ts';
import type { EventRecord } from '../../store/tables/record/events.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import { readEventContent } from '../numbering.ts';
import { type Operations, ofWholeAccount, replayToAnyone } from '../operation.ts';
import { eventOf } from '../record.ts';
import { findWebhook, lastSeqOf, lockWebhook, patchAndEndLease } from './webhooks.ts';

const DEFAULT_LIMIT = 100;

export const deliveryOperations: Operations<typeof webhookDeliveries> = {
  /** Records a `ping` for one webhook. */
  test: {
    ...replayToAnyone(ofWholeAccount),
    async perform(context, { webhookId }) {
      const webhook = await findWebhook(context, webhookId);
      if (!webhook.active) throw apiError('webhookInactive');
      context.record(eventOf('ping', 'webhook', webhookId));
      return { webhookId, afterSeq: await lastSeqOf(context), at: context.now };
    },
  },

  /** Sends the events after a number again. */
  replay: {
    ...replayToAnyone(ofWholeAccount),
    async perform(context, { webhookId, after }) {
      const { repositories, record } = context;
      const webhook = await lockWebhook(context, webhookId);
      if (!webhook.active) throw apiError('webhookInactive');
      const events = Math.max(0, (await lastSeqOf(context)) - after);
      // Waiting events after that number are sent again from the start.
      await repositories.deliveries.removeWaiting({ accountId: webhook.accountId, webhookId }, after, MAX_SEQ);
      await patchAndEndLease(context, webhook, { lastSeq: Math.min(webhook.lastSeq, after), pausedUntil: null });
      record({ resource: { type: 'webhook', id: webhookId }, data: { after, events } });
      return { webhookId, events };
    },
  },

  deliveries: {
    authorize: ofWholeAccount,
    async perform(context, { webhookId, state, limit = DEFAULT_LIMIT, cursor = MAX_SEQ }) {
      const { accountId, active } = await findWebhook(context, webhookId);
      const range = { below: cursor, limit: limit + 1, state };
      const found = await context.repositories.deliveries.list({ accountId, webhookId }, range);
      const items = found.slice(0, limit).map(({ accountId: _, webhookId: _of, nextAttemptAt, ...delivery }) => {
        return { ...delivery, nextAttemptAt: active ? nextAttemptAt : null };
      });
      const last = items.at(-1);
      return { items, meta: { limit, next: found.length > limit && last !== undefined ? String(last.seq) : null } };
    },
  },
};

export interface Payload {
  readonly eventId: string;
  readonly createdAt: Instant;
  readonly body: string;
  /** The licence keys in the body. They must be removed from texts that are stored, such as the response of the receiver. */
  readonly secrets: readonly string[];
}

/**
 * Returns the body that is sent to a webhook: the event without the address of the request. It has the licence key in full if the
 * webhook has `reveal` and the licence still exists. Each attempt sends the same body unless one of these changes.
 */
export async function renderEvent(
  { keys }: Pick<Repositories, 'keys'>,
  webhook: Pick<WebhookRecord, 'accountId' | 'reveal'>,
  event: EventRecord,
): Promise<Payload> {
  const { address: _, ...content } = readEventContent(event.content);
  const license =
    webhook.reveal && content.resource_type === 'license' && 'key' in content.data
      ? await keys.findById(webhook.accountId, content.resource_id)
      : null;
  const shown = license === null ? content : { ...content, data: { ...content.data, key: license.key } };
  return {
    eventId: content.id,
    createdAt: content.created_at,
    body: JSON.stringify(shown),
    secrets: license === null ? [] : [license.key],
  };
}
