import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { feed, feedFields } from './feed.ts';
import { listField } from './fields.ts';
import { examples } from './openapi/examples.ts';
import { Count, InstantText, ShownIp, text } from './scalars.ts';

/** What subscribers of the service are told of. A type is never renamed. */
export const eventTypes = [
  'license.created',
  'license.updated',
  'license.renewed',
  'license.transferred',
  'license.blocked',
  'license.unblocked',
  'license.deleted',
  'license.signed',
  'license.expiring_soon',
  'license.expired',
  'license.limit_reached',
  'device.activated',
  'device.deactivated',
  'device.rebound',
  'session.checked_out',
  'session.checked_in',
  'session.expired',
  'session.denied',
  'customer.created',
  'customer.updated',
  'customer.deleted',
  'product.created',
  'product.updated',
  'token.created',
  'token.rotated',
  'token.revoked',
  'signing_key.rotated',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.disabled',
  'ping',
] as const;

export type EventType = (typeof eventTypes)[number];

/** What an event, or an entry of the audit log, can be about. */
export const resourceTypes = [
  'account',
  'license',
  'device',
  'session',
  'customer',
  'product',
  'token',
  'signing_key',
  'webhook',
  'idempotency_record',
] as const;

export type ResourceType = (typeof resourceTypes)[number];

/** A value as JSON has it. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object as JSON has it. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** The schema of {@link JsonObject}. */
export const Members: z.ZodType<JsonObject> = z.record(z.string(), z.any());

/** Who did something. */
export const Actor = z
  .looseObject({
    type: z.string().describe('`token`, `owner` (of the database), `operator` or `job`'),
    id: z.string().describe('The token, the account, or a name'),
  })
  .meta({ id: 'Actor', description: 'Who did something' });

/** One thing that happened. */
export const Event = z
  .looseObject({
    id: z.string().meta({ description: 'Identifier of the event', examples: [examples.event.id] }),
    seq: Count.min(1).describe('Its number in the account: from 1, without gaps'),
    type: z.string().meta({ description: 'What happened', examples: [examples.event.type] }),
    api_version: z.string().describe('The version of the contract that it follows, a date'),
    created_at: InstantText,
    resource_type: z.string().describe('What it happened to'),
    resource_id: z.string(),
    actor: Actor,
    request_id: z.string().nullable().describe('The `X-Request-Id` of the request that did it; null without one'),
    address: ShownIp.nullable().describe('Where the request came from; masked as the addresses of devices are'),
    data: Members.describe('Ids, numbers, instants and masked keys'),
  })
  .meta({ id: 'Event', description: 'One thing that happened' });
export type Event = z.output<typeof Event>;

/** The operations on events. */
export const events = {
  /** Events of the account in the order of their numbers. */
  list: endpoint({
    summary: 'List events',
    description:
      'Lists the events of the account after a number, oldest first. An event has its number a moment after it ' +
      'happened; one with a lower number never follows. A part may be empty and yet not the last: go on after ' +
      '`meta.last` until it stays the same. Not for a token that is limited to some products.',
    method: 'GET',
    path: '/event/list',
    scope: 'event:read',
    query: z.object({
      ...feedFields,
      type: listField(eventTypes).optional().describe('Only events of these types'),
      resourceId: text(1, 256)
        .optional()
        .describe('Only those of this licence, with its devices and sessions, or of this other resource'),
    }),
    reply: feed('ListEventsResponse', Event, {}),
    example: {
      query: { after: '41', type: 'license.created' },
      reply: { items: [examples.event], meta: { last: 42 } },
    },
    errors: [],
    source: 'decision 0039',
  }),
};
