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
