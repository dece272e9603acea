import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { integerField } from '../fields.ts';
import { examples } from '../openapi/examples.ts';
import { acted, CursorMeta, partList } from '../reply.ts';
import { Count, InstantText } from '../scalars.ts';
import { Delivery, deliveryStates, IssuedWebhook, WebhookId } from './webhook.ts';

/** The longest time for which two secrets sign, in seconds. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/** How long two secrets sign unless it is said, in seconds. */
export const DEFAULT_OVERLAP_SECONDS = 24 * 60 * 60;

/** The operations on what is sent to a webhook. */
export const webhookSending = {
  /** Sends a `ping` to one webhook. */
  test: endpoint({
    summary: 'Send a ping to a webhook',
    description:
      'Makes an event of the type `ping`, which is sent to this webhook alone, whatever types it takes. How that went ' +
      'is in its deliveries a moment later.',
    method: 'POST',
    path: '/webhook/test',
    scope: 'webhook:write',
    body: () => z.object({ webhookId: WebhookId }).meta({ id: 'TestWebhookRequest' }),
    reply: () =>
      acted(
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

  /** Gives a webhook a new secret. */
  rotate: endpoint({
    summary: 'Rotate the secret of a webhook',
    description:
      'Makes a new secret, shown in this response and never again. For a time both secrets sign each request, so that a ' +
      'receiver that knows either of them accepts it.',
    method: 'POST',
    path: '/webhook/rotate',
    scope: 'webhook:write',
    body: () =>
      z
        .object({
          webhookId: WebhookId,
          overlap: z
            .int()
            .min(0)
            .max(MAX_OVERLAP_SECONDS)
            .optional()
            .describe(`For how many seconds the old secret signs as well; ${DEFAULT_OVERLAP_SECONDS} unless given`),
        })
        .meta({ id: 'RotateWebhookRequest' }),
    reply: () => acted('RotateWebhookResponse', 'webhooks.rotate', IssuedWebhook()),
    example: { body: { webhookId: examples.webhook.id, overlap: 3_600 }, reply: examples.issuedWebhook },
    errors: ['webhookNotFound'],
    source: 'decision 0071',
  }),

  /** Sends events to a webhook once more. */
  replay: endpoint({
    summary: 'Send events once more',
    description:
      'Sends all events behind a number once more (`after`), or those that were not accepted (`failed`). Each one has ' +
      'the id and the number that it had.',
    method: 'POST',
    path: '/webhook/replay',
    scope: 'webhook:write',
    body: () =>
      z
        .object({
          webhookId: WebhookId,
          after: Count.optional().describe('Send all events behind this number'),
          failed: z.literal(true).optional().describe('Send those that are dead or wait for another attempt, now'),
        })
        .refine(({ after, failed }) => (after === undefined) !== (failed === undefined), 'after or failed is required')
        .meta({ id: 'ReplayWebhookRequest', oneOf: [{ required: ['after'] }, { required: ['failed'] }] }),
    reply: () =>
      acted(
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
    query: () =>
      z.object({
        webhookId: WebhookId,
        state: z.enum(deliveryStates).optional().describe('Only those in this state'),
        limit: integerField(1, 1_000).optional().describe('How many items at most; 100 unless given'),
        cursor: integerField(0, 2_147_483_647).optional().describe('Only those below this number: `meta.next`'),
      }),
    reply: () => partList('ListDeliveriesResponse', Delivery(), CursorMeta),
    example: {
      query: { webhookId: examples.webhook.id, state: 'delivered' },
      reply: { items: [examples.delivery], meta: { limit: 100, next: null } },
    },
    errors: ['webhookNotFound'],
    source: 'decision 0072',
  }),
};
