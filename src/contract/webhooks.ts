import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { eventTypes } from './events.ts';
import { changing, feedFields, integerField, list, pageFields, request, Seq, secondsField, setOf } from './fields.ts';
import { acted, CursorMeta, done, listReply, partList } from './reply.ts';
import { Active, Count, InstantText, identifier, MAX_SEQ, resource, shown, shownId, text } from './scalars.ts';

/** The forms of signatures: as Standard Webhooks says, and `t=…,v1=…` in one header. Source: decision 0070. */
export const signatureForms = ['standard', 'timestamped'] as const;
export type SignatureForm = (typeof signatureForms)[number];

export const WebhookId = identifier<'WebhookId'>('Identifier of a webhook', 'whk_01jd7q9m3t6xa2w8r5b0y7n1c4');

/** Why the service has stopped a webhook: nothing was accepted for five days, or its receiver answered 410. */
export const DisabledReason = z.enum(['failing', 'gone']);
export type DisabledReason = z.output<typeof DisabledReason>;

/** A webhook as it is shown: never its secret. */
export const Webhook = resource('Webhook', 'An address that events are sent to, without its secret', {
  id: shownId(WebhookId),
  url: shown('Where events are sent', 'https://shop.example.com/hooks/lkm'),
  types: z.array(z.string()).nullable().describe('The only types of events that are sent; null means all'),
  description: z.string().nullable(),
  reveal: z.boolean().describe('Whether licence keys are sent in full, and not masked'),
  ordered: z.boolean().describe('Whether an event is sent only once the one before it was accepted'),
  signatures: z.array(z.enum(signatureForms)).describe('In which forms requests are signed'),
  active: Active.describe('Whether events are sent; those of the meantime wait for 30 days until it is active again'),
  lastSeq: Count.describe('Events up to this number have been sent at least once, or were not wanted'),
  waiting: Count.describe(
    'How many events wait until they are accepted; of those not sent yet at most 20 000 are counted',
  ),
  failingSince: InstantText.nullable().describe('Since when nothing was accepted; null while the last one was'),
  lastError: z.string().nullable().describe('Why the last attempt failed; null once everything was accepted'),
  pausedUntil: InstantText.nullable().describe('Until when its receiver wants nothing sent (`Retry-After`); null else'),
  disabledAt: InstantText.nullable().describe('When the service stopped it; null when it did not'),
  disabledReason: DisabledReason.nullable().describe('failing: for five days; gone: its receiver answered 410'),
  previousSecretUntil: InstantText.nullable().describe('Until when the secret before this one signs as well'),
  createdAt: InstantText,
  updatedAt: InstantText,
});
export type Webhook = z.output<typeof Webhook>;

export const IssuedWebhook = resource('IssuedWebhook', 'An address that events are sent to, with its secret', {
  ...Webhook.shape,
  secret: shown(
    'What signs the events: `whsec_` and base64. Shown this once',
    'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazp5c1Zk0ts=',
  ),
});

/** How a delivery stands: nothing is given up. */
export const deliveryStates = ['delivered', 'waiting'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const Delivery = resource('Delivery', 'One event on its way to one webhook', {
  seq: Seq.describe('The number of the event'),
  eventId: shown('The event: `webhook-id`', 'evt_01jd7q8k5v1n4c7w0x2z6b9t3m'),
  type: shown('The type of the event', 'license.created'),
  state: z.enum(deliveryStates).describe('waiting: until its webhook has accepted it'),
  attempts: Count.describe('How often it was sent since it was last asked for'),
  status: z.int().min(100).max(999).nullable().describe('The HTTP status of the last response; null without one'),
  error: z.string().nullable().describe('Why the last attempt failed; null when it did not'),
  answer: z.string().nullable().describe('The beginning of the last response, without what looks like a secret'),
  durationMs: Count.describe('How long the last attempt took, in milliseconds'),
  attemptedAt: InstantText.describe('When it was sent last'),
  nextAttemptAt: InstantText.nullable().describe(
    'When it is sent again; null when it is not, as by a webhook that is not active',
  ),
});
export type Delivery = z.output<typeof Delivery>;

/** The longest time for which two secrets sign, in seconds. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/** How long two secrets sign by default, in seconds. */
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
  signatures: setOf(signatureForms)
    .optional()
    .describe(
      'In which forms requests are signed: as Standard Webhooks says (default), `t=…,v1=…` in one header, or both',
    ),
  active: Active.optional().describe('Whether events are sent. Default true'),
};

const changes = {
  url: Url.optional(),
  types: Types.nullish().describe('The only types of events to send; null means all'),
  ...settings,
};

const From = z
  .union([Seq, z.literal('now')])
  .optional()
  .describe('With `active`: the event to go on with, or `now`, in place of where it stopped');

export const webhooks = {
  /** Adds a webhook; it receives new events only. Source: decision 0070. */
  create: endpoint('POST /webhook', 'webhook:write', {
    summary: 'Create a webhook',
    description:
      'Adds an address that events are sent to, from its own `webhook.created` on, signed as Standard Webhooks says unless ' +
      '`signatures` says otherwise, with the secret of this response, which is never shown again. No operation on webhooks ' +
      'is for a token that is limited to some products.',
    body: request('CreateWebhookRequest', {
      url: Url,
      types: Types.optional().describe('The only types of events to send; absent means all'),
      ...settings,
    }),
    reply: acted('CreateWebhookResponse', 'webhooks.create', IssuedWebhook, { status: 201 }),
    example: { types: ['license.created'], description: 'shop' },
    errors: ['webhookUrlRefused', 'webhookLimit'],
  }),

  /** Lists the webhooks of the account, oldest first. Source: decision 0070. */
  list: endpoint('GET /webhook', 'webhook:read', {
    summary: 'List webhooks',
    description: 'Lists the webhooks of the account, oldest first, never their secrets: all of them, or one page.',
    query: z.object(pageFields),
    reply: listReply('ListWebhooksResponse', 'webhooks.list', Webhook),
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
      'Changes what is given. A webhook that becomes active again goes on where it stopped, with all events of the last 30 ' +
      'days, unless `from` says otherwise. After `url` and `active` what waits is sent at once.',
    query: byId,
    body: changing('UpdateWebhookRequest', { ...changes, from: From }, Object.keys(changes), [
      ({ from, active }: { readonly from?: unknown; readonly active?: unknown }) =>
        from === undefined || active === true,
      { message: 'from needs active', path: ['from'] },
    ]),
    reply: acted('UpdateWebhookResponse', 'webhooks.update', Webhook),
    example: { active: true },
    errors: ['webhookNotFound', 'webhookUrlRefused', 'aheadOfService'],
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
      overlap: secondsField(0, MAX_OVERLAP_SECONDS).describe(
        `For how many seconds the old secret signs as well; default ${DEFAULT_OVERLAP_SECONDS}`,
      ),
    }),
    reply: acted('RotateWebhookResponse', 'webhooks.rotate', IssuedWebhook),
    example: { overlap: 3_600 },
    errors: ['webhookNotFound'],
  }),
};

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

  /** Sends events to a webhook once more. Source: decision 0070. */
  replay: endpoint('POST /webhook/replay', 'webhook:write', {
    summary: 'Send events once more',
    description:
      'Sends all events after a number once more, with the ids and numbers that they had. What waits needs none of this.',
    body: request('ReplayWebhookRequest', {
      webhookId: WebhookId,
      after: Count.describe('Send all events after this number'),
    }),
    reply: acted(
      'ReplayWebhookResponse',
      'webhooks.replay',
      z.looseObject({
        webhookId: shownId(WebhookId),
        events: Count.describe('How many events that are, those of other types included'),
      }),
    ),
    example: { after: 41 },
    errors: ['webhookNotFound', 'webhookInactive'],
  }),

  /** Lists the deliveries to a webhook, newest first. Source: decision 0070. */
  deliveries: endpoint('GET /webhook/deliveries', 'webhook:read', {
    summary: 'List the deliveries of a webhook',
    description:
      'Lists what was sent to a webhook, newest first. Accepted deliveries are kept for 7 days, others until then.',
    query: z.object({
      webhookId: WebhookId,
      state: z.enum(deliveryStates).optional().describe('Only those in this state'),
      limit: feedFields.limit,
      cursor: integerField(0, MAX_SEQ).optional().describe('Only those below this number: `meta.next`'),
    }),
    reply: partList('ListDeliveriesResponse', Delivery, CursorMeta),
    readsMany: true,
    example: { state: 'delivered' },
    errors: ['webhookNotFound'],
  }),
};
