import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { eitherOf, feedFields, integerField, MAX_SEQ, request } from '../fields.ts';
import { acted, CursorMeta, partList } from '../reply.ts';
import { Count, InstantText, shownId } from '../scalars.ts';
import { Delivery, deliveryStates, WebhookId } from './webhook.ts';

export const webhookDeliveries = {
  /** Sends a `ping` to one webhook. Source: decision 0070. */
  test: endpoint('POST /webhook/test', 'webhook:write', {
    summary: 'Send a ping to a webhook',
    description:
      'Makes an event `ping`, sent to this webhook alone, whatever types it takes. Its deliveries show how that went.',
    body: request('TestWebhookRequest', { webhookId: WebhookId }),
    reply: acted(
      'TestWebhookResponse',
      'webhooks.test',
      z.looseObject({
        webhookId: shownId(WebhookId),
        afterSeq: Count.describe('The number of the ping is higher than this'),
        at: InstantText,
      }),
    ),
    errors: ['webhookNotFound', 'webhookInactive'],
  }),

  /** Sends events to a webhook once more. Source: decision 0072. */
  replay: endpoint('POST /webhook/replay', 'webhook:write', {
    summary: 'Send events once more',
    description:
      'Sends events once more, with the ids and numbers that they had: all after a number, or those not accepted.',
    body: z
      .object({
        webhookId: WebhookId,
        after: Count.optional().describe('Send all events after this number'),
        failed: z.literal(true).optional().describe('Send those that are dead or wait for another attempt, now'),
      })
      .refine(...eitherOf('after', 'failed'))
      .meta({ id: 'ReplayWebhookRequest', oneOf: [{ required: ['after'] }, { required: ['failed'] }] }),
    reply: acted(
      'ReplayWebhookResponse',
      'webhooks.replay',
      z.looseObject({
        webhookId: shownId(WebhookId),
        events: Count.describe('How many events that are; with `after`, those of other types included'),
      }),
    ),
    example: { after: 41 },
    errors: ['webhookNotFound', 'webhookInactive'],
  }),

  /** Lists what was sent to a webhook, newest first. Source: decision 0072. */
  deliveries: endpoint('GET /webhook/deliveries', 'webhook:read', {
    summary: 'List the deliveries of a webhook',
    description:
      'Lists what was sent to a webhook, newest first. Accepted deliveries are kept for 7 days, dead ones for 30.',
    query: z.object({
      webhookId: WebhookId,
      state: z.enum(deliveryStates).optional().describe('Only those in this state'),
      limit: feedFields.limit,
      cursor: integerField(0, MAX_SEQ).optional().describe('Only those below this number: `meta.next`'),
    }),
    reply: partList('ListDeliveriesResponse', Delivery, CursorMeta),
    example: { state: 'delivered' },
    errors: ['webhookNotFound'],
  }),
};
