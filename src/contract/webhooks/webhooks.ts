import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { eventTypes } from '../events.ts';
import { changing, list, pageFields } from '../fields.ts';
import { examples } from '../openapi/examples.ts';
import { acted, actedList, done } from '../reply.ts';
import { IfUpdatedAt, text } from '../scalars.ts';
import { IssuedWebhook, payloadVersions, Webhook, WebhookId } from './webhook.ts';

/** The longest time for which two secrets sign, in seconds. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/** How long two secrets sign unless it is said, in seconds. */
export const DEFAULT_OVERLAP_SECONDS = 24 * 60 * 60;

const byId = z.object({ webhookId: WebhookId });

const Url = text(8, 2_048).meta({
  description:
    'Where events are sent: `https`, without a user name, at a public address. It is resolved and checked at each attempt',
  examples: [examples.webhook.url],
});

const Types = list(z.enum(eventTypes), 1, eventTypes.length);

const settings = {
  description: text(1, 256).nullish().describe('What it is for'),
  reveal: z
    .boolean()
    .optional()
    .describe('Whether licence keys are sent in full; only for a token that sees them. Default false'),
  ordered: z
    .boolean()
    .optional()
    .describe('Whether an event is sent only once the one before it was accepted. Default false'),
  active: z.boolean().optional().describe('Whether events are sent. Default true'),
  apiVersion: z
    .enum(payloadVersions)
    .optional()
    .describe('The dated contract that its payloads follow; the present one unless given'),
};

/** The operations on webhooks. */
export const webhooks = {
  /** Adds a webhook; what happens from now on is sent to it. */
  create: endpoint({
    summary: 'Create a webhook',
    description:
      'Adds an address that events are sent to, from its own `webhook.created` on. Requests are signed as Standard ' +
      'Webhooks says, with the secret of this response, which is never shown again. Not for a token that is limited to ' +
      'some products, as are all operations on webhooks.',
    method: 'POST',
    path: '/webhook',
    scope: 'webhook:write',
    body: z
      .object({
        url: Url,
        types: Types.optional().describe('The only types of events to send; absent means all'),
        ...settings,
      })
      .meta({ id: 'CreateWebhookRequest' }),
    reply: acted('CreateWebhookResponse', 'webhooks.create', IssuedWebhook, 201),
    example: {
      body: { url: examples.webhook.url, types: ['license.created'], description: 'shop' },
      reply: examples.issuedWebhook,
    },
    errors: ['webhookUrlRefused', 'webhookLimit'],
    source: 'decision 0070',
  }),

  /** Lists the webhooks of the account, oldest first. */
  list: endpoint({
    summary: 'List webhooks',
    description:
      'Lists the webhooks of the account, oldest first, never their secrets. Without `page` and `limit` the list is ' +
      'complete; with one of them it is one page, and `meta` says where that stands.',
    method: 'GET',
    path: '/webhook',
    scope: 'webhook:read',
    query: z.object(pageFields),
    reply: actedList('ListWebhooksResponse', 'webhooks.list', Webhook),
    example: { query: { page: '1' }, reply: { items: [examples.webhook], meta: examples.page } },
    errors: [],
    source: 'decision 0070',
  }),

  /** Shows one webhook. */
  get: endpoint({
    summary: 'Show a webhook',
    description: 'Shows one webhook and how it is doing.',
    method: 'GET',
    path: '/webhook/by-id',
    scope: 'webhook:read',
    query: byId,
    reply: acted('GetWebhookResponse', 'webhooks.get', Webhook),
    example: { query: { webhookId: examples.webhook.id }, reply: examples.webhook },
    errors: ['webhookNotFound'],
    source: 'decision 0070',
  }),

  /** Changes a webhook, stops it, or lets it go on where it stopped. */
  update: endpoint({
    summary: 'Update a webhook',
    description:
      'Changes what is given of a webhook. One that becomes active again goes on where it stopped, so that nothing of ' +
      'the meantime is missing. With `ifUpdatedAt` nothing is changed when somebody else has changed it since.',
    method: 'PUT',
    path: '/webhook/by-id',
    scope: 'webhook:write',
    query: byId,
    body: changing(
      'UpdateWebhookRequest',
      ['url', 'types', 'description', 'reveal', 'ordered', 'active', 'apiVersion'],
      {
        url: Url.optional(),
        types: Types.nullish().describe('The only types of events to send; null means all'),
        ...settings,
        ifUpdatedAt: IfUpdatedAt,
      },
    ),
    reply: acted('UpdateWebhookResponse', 'webhooks.update', Webhook),
    example: {
      query: { webhookId: examples.webhook.id },
      body: { active: false },
      reply: { ...examples.webhook, active: false },
    },
    errors: ['webhookNotFound', 'webhookUrlRefused', 'stale'],
    source: 'decision 0070',
  }),

  /** Removes a webhook with its deliveries. */
  delete: endpoint({
    summary: 'Delete a webhook',
    description: 'Deletes a webhook and the list of its deliveries. Nothing is sent to it any more.',
    method: 'DELETE',
    path: '/webhook/by-id',
    scope: 'webhook:write',
    query: byId,
    reply: done('DeleteWebhookResponse', 'webhooks.delete'),
    example: { query: { webhookId: examples.webhook.id }, reply: undefined },
    errors: ['webhookNotFound'],
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
    body: z
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
    reply: acted('RotateWebhookResponse', 'webhooks.rotate', IssuedWebhook),
    example: { body: { webhookId: examples.webhook.id, overlap: 3_600 }, reply: examples.issuedWebhook },
    errors: ['webhookNotFound'],
    source: 'decision 0070',
  }),
};
