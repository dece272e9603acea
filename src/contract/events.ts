import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { feedFields, listField, Seq } from './fields.ts';
import { listedNames } from './keys/licenses.ts';
import type { JsonValue } from './keys/metadata.ts';
import { feed } from './reply.ts';
import {
  Count,
  CustomerId,
  EndText,
  HostId,
  InstantText,
  Kid,
  LicenseId,
  ProductId,
  resource,
  ShownIp,
  ShownKey,
  shown,
  shownId,
  text,
} from './scalars.ts';

/** An object as JSON has it. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** The schema of {@link JsonObject}. */
export const Members: z.ZodType<JsonObject> = z.record(z.string(), z.any());

const productId = shownId(ProductId);
const hostId = shownId(HostId);
const expiresAt = EndText;
const expirationDate = InstantText.nullable();
const active = z.boolean();
const changed = z.array(z.string()).describe('The names of the fields that have another value now');
const kind = shown('The kind of the token', 'scoped');
const host = shown('The host of its URL', 'shop.example.com');

const license = {
  productId,
  customerId: shownId(CustomerId).nullable(),
  key: z.string().meta({ ...ShownKey.meta(), description: 'Masked unless the webhook takes whole keys' }),
};
const device = { licenseId: LicenseId, productId, hostId };
const movesOfYear = Count.optional().describe('How many moves of this year count, this one included');
const session = { ...device, hostId: hostId.nullable(), expiresAt };

/** The types of events, and their `data`. Within a dated contract no type is renamed and no field removed. */
export const eventData = {
  'license.created': license,
  'license.revealed': license,
  'license.updated': { ...license, changed, before: Members, after: Members },
  'license.renewed': { ...license, from: InstantText.nullable(), to: InstantText.nullable() },
  'license.transferred': { ...license, from: z.string().nullable(), to: z.string().nullable() },
  'license.blocked': license,
  'license.unblocked': license,
  'license.revoked': license,
  'license.reissued': { ...license, previousKey: license.key, previousKeyUntil: InstantText },
  'license.deleted': license,
  'license.signed': { ...license, hostId, fileId: shown('The file', 'fil_01jd7q8k2m5xw9a7r0b1y8n4c6'), expiresAt },
  'license.expiring_soon': { ...license, expirationDate },
  'license.expired': { ...license, expirationDate },
  'license.limit_reached': { ...license, hostId: hostId.nullable(), maxActivations: Count.nullable() },
  'device.activated': { ...device, movedFromHostId: hostId.optional().describe('Whose slot it was'), movesOfYear },
  'device.deactivated': { ...device, proofOf: z.string().optional().describe('The licence file of its proof') },
  'device.rebound': { ...device, previousHostId: hostId, movesOfYear },
  'session.checked_out': session,
  'session.checked_in': session,
  'session.expired': session,
  'session.denied': { ...license, hostId: hostId.nullable(), maxConcurrentSessions: Count.nullable() },
  'customer.created': {},
  'customer.updated': { changed, active },
  'customer.deleted': { keys: Count, keysBlocked: z.boolean() },
  'plan.created': { productId },
  'plan.updated': { productId, changed, active },
  'product.created': {},
  'product.updated': { changed: changed.optional(), active: active.optional(), versionId: z.string().optional() },
  'token.created': { kind, expiresAt: InstantText.nullable() },
  'token.rotated': {},
  'token.revoked': { kind },
  'signing_key.rotated': { kid: Kid, previousKid: z.string().nullable() },
  'webhook.created': { host },
  'webhook.updated': { changed, active, host },
  'webhook.deleted': {},
  'webhook.disabled': { reason: shown('Why', 'failing'), failingSince: InstantText.nullable() },
  ping: {},
} as const satisfies Record<string, z.ZodRawShape>;

export type EventType = keyof typeof eventData;

export const eventTypes = Object.keys(eventData) as readonly EventType[];

/** The types of resources of events and of audit rows. */
export type ResourceType =
  | 'account'
  | 'license'
  | 'device'
  | 'session'
  | 'customer'
  | 'product'
  | 'plan'
  | 'token'
  | 'signing_key'
  | 'webhook';

export const Actor = resource('Actor', 'Who did something', {
  type: shown('`token`, `owner` (of the database), `customer` (on its page), `operator` or `job`', 'token'),
  id: shown('The token, the account, or a name', 'tok_01jd7q5d2m4xw8a6r1b0y7n9c3'),
});

/** The fields of every event, in lists and in webhooks. */
export const eventFields = {
  id: shown('Identifier of the event', 'evt_01jd7q8k5v1n4c7w0x2z6b9t3m'),
  seq: Seq,
  type: shown('What happened', 'license.created'),
  api_version: shown('The version of the contract that it follows, a date', '2026-11-21'),
  created_at: InstantText,
  resource_type: shown('What it happened to', 'license'),
  resource_id: LicenseId.describe('Its identifier'),
  actor: Actor,
  request_id: z.string().nullable().describe('The `X-Request-Id` of the request that did it; null without one'),
};

export const RequestAddress = ShownIp.nullable().describe(
  'Where the request came from; masked as those of devices are',
);

/** The names that stand beside the ids of a numbered list. Names may change later, and webhooks carry no names. */
export const recordNames = {
  tokenName: shown('The name of the token; null for none, absent without `token:read`', 'Shop').nullish(),
  ...listedNames,
  productName: shown('The name of the product; null for none, absent without `product:read`', 'Editor').nullish(),
};

/** The data of an event: ids and numbers. */
export const RecordedDetails = Members.meta({
  description: 'Ids, numbers, instants and masked keys',
  examples: [{ productId: 'prod_01jd7q3v6ye2wb8x5k9m4n0r7t', key: '*****-*****-*****-*****-85SB5' }],
});

export const Event = resource('Event', 'One thing that happened', {
  ...eventFields,
  address: RequestAddress,
  data: RecordedDetails,
  ...recordNames,
});
export type Event = z.output<typeof Event>;

const typeField = listField(eventTypes).optional().describe('Only events of these types');

export const events = {
  /** Events of the account in the order of their numbers. Source: decision 0039. */
  list: endpoint('GET /event/list', 'event:read', {
    summary: 'List events',
    description:
      'Lists the events of the account after a number, oldest first; one with a lower number never follows. A part may ' +
      'be empty and yet not the last: go on after `meta.last` until it stays the same. A number that the service has not ' +
      'come to is refused, but for the greatest of all, 2147483647, which asks where it is. Not for a token that is ' +
      'limited to some products.',
    query: z.object({
      ...feedFields,
      type: typeField,
      resourceId: text(1, 256).optional().describe('Only those of this licence and what it has, or of this resource'),
    }),
    readsMany: true,
    reply: feed('ListEventsResponse', Event, {}),
    example: { after: '0', type: 'license.created' },
    errors: ['aheadOfService'],
  }),
};
