import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { MAX_SEQ } from '../feed.ts';
import { integerField } from '../fields.ts';
import { examples } from '../openapi/examples.ts';
import { acted, CursorMeta, partList } from '../reply.ts';
import { Count, InstantText } from '../scalars.ts';
import { Delivery, deliveryStates, WebhookId } from './webhook.ts';

/** The operations on what is sent to a webhook: its deliveries. */
export const webhookDeliveries = {
  /** Sends a `ping` to one webhook. */
  test: endpoint({
    summary: 'Send a ping to a webhook',
    description:
      'Makes an event of the type `ping`, which is sent to this webhook alone, whatever types it takes. How that went ' +
      'is in its deliveries a moment later.',
    method: 'POST',
    path: '/webhook/test',
    scope: 'webhook:write',
    body: z.object({ webhookId: WebhookId }).meta({ id: 'TestWebhookRequest' }),
    reply: acted(
      'TestWebhookResponse',
      'webhooks.test',
      z.looseObject({
        webhookId: z.string(),
        afterSeq: Count.describe('The number of the ping is higher than this'),
        at: InstantText,
      }),
    ),
    example: {
      body: { webhookId: examples.webhook.id },
      reply: { webhookId: examples.webhook.id, afterSeq: 41, at: examples.webhook.createdAt },
    },
    errors: ['webhookNotFound', 'webhookInactive'],
    source: 'decision 0070',
  }),

  /** Sends events to a webhook once more. */
  replay: endpoint({
    summary: 'Send events once more',
    description:
      'Sends all events after a number once more (`after`), or those that were not accepted (`failed`). Each one has ' +
      'the id and the number that it had.',
    method: 'POST',
    path: '/webhook/replay',
    scope: 'webhook:write',
    body: z
      .object({
        webhookId: WebhookId,
        after: Count.optional().describe('Send all events after this number'),
        failed: z.literal(true).optional().describe('Send those that are dead or wait for another attempt, now'),
      })
      .refine(({ after, failed }) => (after === undefined) !== (failed === undefined), 'after or failed is required')
      .meta({ id: 'ReplayWebhookRequest', oneOf: [{ required: ['after'] }, { required: ['failed'] }] }),
    reply: acted(
      'ReplayWebhookResponse',
      'webhooks.replay',
      z.looseObject({
        webhookId: z.string(),
        events: Count.describe('How many events that are; with `after`, those of other types included'),
      }),
    ),
    example: {
      body: { webhookId: examples.webhook.id, after: 41 },
      reply: { webhookId: examples.webhook.id, events: 12 },
    },
    errors: ['webhookNotFound', 'webhookInactive'],
    source: 'decision 0072',
  }),

  /** Lists what was sent to a webhook, newest first. */
  deliveries: endpoint({
    summary: 'List the deliveries of a webhook',
    description:
      'Lists events that were sent to a webhook, newest first, with the response to the last attempt. Those that were ' +
      'accepted are kept for 7 days, dead ones for 30.',
    method: 'GET',
    path: '/webhook/deliveries',
    scope: 'webhook:read',
    query: z.object({
      webhookId: WebhookId,
      state: z.enum(deliveryStates).optional().describe('Only those in this state'),
      limit: integerField(1, 1_000).optional().describe('How many items at most; 100 unless given'),
      cursor: integerField(0, MAX_SEQ).optional().describe('Only those below this number: `meta.next`'),
    }),
    reply: partList('ListDeliveriesResponse', Delivery, CursorMeta),
    example: {
      query: { webhookId: examples.webhook.id, state: 'delivered' },
      reply: { items: [examples.delivery], meta: { limit: 100, next: null } },
    },
    errors: ['webhookNotFound'],
    source: 'decision 0072',
  }),
};
