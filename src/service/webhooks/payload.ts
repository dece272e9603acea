import type { JsonObject } from '../../contract/events.ts';
import type { Instant } from '../../contract/scalars.ts';
import type { PayloadVersion } from '../../contract/webhooks/webhook.ts';
import type { Repositories } from '../../store/store.ts';
import type { EventRecord } from '../../store/tables/record/events.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import { type EventContent, readEventContent } from '../numbering.ts';

export interface Payload {
  readonly eventId: string;
  readonly createdAt: Instant;
  readonly body: string;
  /** What of it must not be kept elsewhere. */
  readonly secrets: readonly string[];
}

/**
 * The body of a webhook, in the shape of the webhook's own version. A licence key is whole where the webhook takes whole
 * keys and the licence is still there: unless one of these changes, it is the same at each attempt.
 */
export async function renderEvent(
  { keys }: Pick<Repositories, 'keys'>,
  webhook: Pick<WebhookRecord, 'accountId' | 'reveal' | 'apiVersion'>,
  event: EventRecord,
): Promise<Payload> {
  const content = readEventContent(event.content);
  const license =
    webhook.reveal && content.resource_type === 'license' && 'key' in content.data
      ? await keys.findById(webhook.accountId, content.resource_id)
      : null;
  const shown = license === null ? content : { ...content, data: { ...content.data, key: license.key } };
  return {
    eventId: content.id,
    createdAt: content.created_at,
    body: JSON.stringify({ ...shapes[webhook.apiVersion](shown), api_version: webhook.apiVersion }),
    secrets: license === null ? [] : [license.key],
  };
}

/** How each dated contract writes an event. Source: API description, "Versioning", 3. */
const shapes: Readonly<Record<PayloadVersion, (event: EventContent) => JsonObject>> = {
  '2026-11-21': ({ address: _, actor, ...event }) => ({ ...event, actor: { ...actor } }),
};
