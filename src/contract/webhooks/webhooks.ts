import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { eventTypes } from '../events.ts';
import { changing, list, pageFields, request, secondsField } from '../fields.ts';
import { acted, actedList, done } from '../reply.ts';
import { Active, text } from '../scalars.ts';
import { IssuedWebhook, payloadVersions, Webhook, WebhookId } from './webhook.ts';

/** The longest time for which two secrets sign, in seconds. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/** How long two secrets sign unless it is said, in seconds. */
export const DEFAULT_OVERLAP_SECONDS = 24 * 60 * 60;

const byId = z.object({ webhookId: WebhookId });

const Url = text(8, 2_048).meta({
  description: 'Where events are sent: `https`, without a user name, at a public address, checked at each attempt',
  examples: ['https://shop.example.com/hooks/lkm'],
});

const Types = list(z.enum(eventTypes), 1, eventTypes.length);

const settings = {
  description: text(1, 256).nullish().describe('What it is for'),
  reveal: z.boolean().optional().describe('Whether keys are sent in full, for a token that sees them; default false'),
  ordered: z.boolean().optional().describe('Whether an event waits until the one before was accepted; default false'),
  active: Active.optional().describe('Whether events are sent. Default true'),
  apiVersion: z.enum(payloadVersions).optional().describe('The dated contract that its payloads follow'),
};

export const webhooks = {
  /** Adds a webhook; what happens from now on is sent to it. Source: decision 0070. */
  create: endpoint('POST /webhook', 'webhook:write', {
    summary: 'Create a webhook',
    description:
      'Adds an address that events are sent to, from its own `webhook.created` on, signed as Standard Webhooks says ' +
      'with the secret of this response, which is never shown again. No operation on webhooks is for a token that is ' +
      'limited to some products.',
    body: request('CreateWebhookRequest', {
      url: Url,
      types: Types.optional().describe('The only types of events to send; absent means all'),
      ...settings,
    }),
    reply: acted('CreateWebhookResponse', 'webhooks.create', IssuedWebhook, 201),
    example: { types: ['license.created'], description: 'shop' },
    errors: ['webhookUrlRefused', 'webhookLimit'],
  }),

  /** Lists the webhooks of the account, oldest first. Source: decision 0070. */
  list: endpoint('GET /webhook', 'webhook:read', {
    summary: 'List webhooks',
    description: 'Lists the webhooks of the account, oldest first, never their secrets: all of them, or one page.',
    query: z.object(pageFields),
    reply: actedList('ListWebhooksResponse', 'webhooks.list', Webhook),
    example: { page: '1' },
  }),

  /** Shows one webhook. Source: decision 0070. */
  get: endpoint('GET /webhook/by-id', 'webhook:read', {
    summary: 'Show a webhook',
    description: 'Shows one webhook and how it is doing.',
    query: byId,
    reply: acted('GetWebhookResponse', 'webhooks.get', Webhook),
    errors: ['webhookNotFound'],
  }),

  /** Changes a webhook, stops it, or lets it go on where it stopped. Source: decision 0070. */
  update: endpoint('PUT /webhook/by-id', 'webhook:write', {
    summary: 'Update a webhook',
    description:
      'Changes what is given. A webhook that becomes active again goes on where it stopped, so that nothing of the ' +
      'meantime is missing.',
    query: byId,
    body: changing('UpdateWebhookRequest', {
      url: Url.optional(),
      types: Types.nullish().describe('The only types of events to send; null means all'),
      ...settings,
    }),
    reply: acted('UpdateWebhookResponse', 'webhooks.update', Webhook),
    example: { active: true },
    errors: ['webhookNotFound', 'webhookUrlRefused', 'stale'],
  }),

  /** Removes a webhook with its deliveries. Source: decision 0070. */
  delete: endpoint('DELETE /webhook/by-id', 'webhook:write', {
    summary: 'Delete a webhook',
    description: 'Deletes a webhook and the list of its deliveries. Nothing is sent to it any more.',
    query: byId,
    reply: done('DeleteWebhookResponse', 'webhooks.delete'),
    errors: ['webhookNotFound'],
  }),

  /** Gives a webhook a new secret. Source: decision 0070. */
  rotate: endpoint('POST /webhook/rotate', 'webhook:write', {
    summary: 'Rotate the secret of a webhook',
    description:
      'Makes a new secret, shown in this response and never again. For the overlap both secrets sign each request.',
    body: request('RotateWebhookRequest', {
      webhookId: WebhookId,
      overlap: secondsField(
        0,
        MAX_OVERLAP_SECONDS,
        `For how many seconds the old secret signs as well; default ${DEFAULT_OVERLAP_SECONDS}`,
      ),
    }),
    reply: acted('RotateWebhookResponse', 'webhooks.rotate', IssuedWebhook),
    example: { overlap: 3_600 },
    errors: ['webhookNotFound'],
  }),
};
