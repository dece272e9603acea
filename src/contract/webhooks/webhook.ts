import { z } from 'zod';
import { Seq } from '../fields.ts';
import { Active, Count, InstantText, identifier, resource, shown, shownId } from '../scalars.ts';

/** The dated contracts whose payloads are still sent, newest first. Source: API description, "Versioning", 3. */
export const payloadVersions = ['2026-11-21'] as const;

export type PayloadVersion = (typeof payloadVersions)[number];

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
  active: Active.describe('Whether events are sent; those of the meantime are sent once it is active again'),
  apiVersion: shown('The dated contract that its payloads follow', '2026-11-21'),
  lastSeq: Count.describe('Events up to this number have been sent at least once, or were not wanted'),
  failingSince: InstantText.nullable().describe('Since when nothing was accepted; null while the last one was'),
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

/** How a delivery stands. */
export const deliveryStates = ['delivered', 'retrying', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const Delivery = resource('Delivery', 'One event on its way to one webhook', {
  seq: Seq.describe('The number of the event'),
  eventId: shown('The event: `webhook-id`', 'evt_01jd7q8k5v1n4c7w0x2z6b9t3m'),
  type: shown('The type of the event', 'license.created'),
  state: z.enum(deliveryStates).describe('retrying: until `nextAttemptAt`; dead: given up until it is replayed'),
  attempts: Count.describe('How often it was sent since it was last asked for'),
  status: z.int().min(100).max(999).nullable().describe('The HTTP status of the last response; null without one'),
  error: z.string().nullable().describe('Why the last attempt failed; null when it did not'),
  answer: z.string().nullable().describe('The beginning of the last response, without what looks like a secret'),
  durationMs: Count.describe('How long the last attempt took, in milliseconds'),
  attemptedAt: InstantText.describe('When it was sent last'),
  nextAttemptAt: InstantText.nullable().describe('When it is sent again; null when it is not'),
});
export type Delivery = z.output<typeof Delivery>;
