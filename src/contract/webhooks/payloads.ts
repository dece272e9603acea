import { z } from 'zod';
import { Actor, type EventType, Members } from '../events.ts';
import { examples } from '../openapi/examples.ts';
import { Count, InstantText } from '../scalars.ts';

const id = z.string();
const key = z.string().describe('The licence key, masked unless the webhook takes whole keys');

/** What every event of a licence says. */
const license = { productId: id, customerId: id.nullable(), key };

/** What every event of a device says. */
const device = { licenseId: id, productId: id, hostId: id };

/** What every event of a session says. */
const session = { licenseId: id, productId: id, hostId: id.nullable(), expiresAt: InstantText };

const changed = z.array(z.string()).describe('The names of the fields that have another value now');
const end = { expirationDate: InstantText.nullable() };
const product = { changed: changed.optional(), active: z.boolean().optional(), versionId: id.optional() };

/** What `data` holds, for each type of event. Fields may be added; none is removed within a dated contract. */
export const eventData = {
  'license.created': z.looseObject(license),
  'license.updated': z.looseObject({ ...license, changed, before: Members, after: Members }),
  'license.renewed': z.looseObject({ ...license, from: InstantText.nullable(), to: InstantText.nullable() }),
  'license.transferred': z.looseObject({ ...license, from: id.nullable(), to: id.nullable() }),
  'license.blocked': z.looseObject(license),
  'license.unblocked': z.looseObject(license),
  'license.deleted': z.looseObject(license),
  'license.signed': z.looseObject({ ...license, hostId: id, fileId: id, expiresAt: InstantText }),
  'license.expiring_soon': z.looseObject({ ...license, ...end }),
  'license.expired': z.looseObject({ ...license, ...end }),
  'license.limit_reached': z.looseObject({ ...license, hostId: id.nullable(), maxActivations: Count.nullable() }),
  'device.activated': z.looseObject(device),
  'device.deactivated': z.looseObject(device),
  'device.rebound': z.looseObject({ ...device, previousHostId: id }),
  'session.checked_out': z.looseObject(session),
  'session.checked_in': z.looseObject(session),
  'session.expired': z.looseObject(session),
  'session.denied': z.looseObject({ ...license, hostId: id.nullable(), maxConcurrentSessions: Count.nullable() }),
  'customer.created': z.looseObject({}),
  'customer.updated': z.looseObject({ changed, active: z.boolean() }),
  'customer.deleted': z.looseObject({ keys: Count, keysBlocked: z.boolean() }),
  'product.created': z.looseObject({}),
  'product.updated': z.looseObject(product),
  'token.created': z.looseObject({ kind: z.string(), expiresAt: InstantText.nullable() }),
  'token.rotated': z.looseObject({}),
  'token.revoked': z.looseObject({ kind: z.string() }),
  'signing_key.rotated': z.looseObject({ kid: id, previousKid: id.nullable() }),
  'webhook.created': z.looseObject({ host: z.string() }),
  'webhook.updated': z.looseObject({ changed, active: z.boolean(), host: z.string() }),
  'webhook.deleted': z.looseObject({}),
  'webhook.disabled': z.looseObject({ reason: z.string(), failingSince: InstantText.nullable() }),
  ping: z.looseObject({}),
} as const satisfies Record<EventType, z.ZodType>;

/** The body of a webhook of one type. */
export function payloadSchema(type: EventType): z.ZodType {
  return z
    .looseObject({
      id: z.string().meta({ description: 'The event, the same at each attempt', examples: [examples.event.id] }),
      seq: Count.min(1).describe('Its number in the account: from 1, without gaps'),
      type: z.literal(type),
      api_version: z.string().describe('The dated contract that the webhook follows'),
      created_at: InstantText,
      resource_type: z.string(),
      resource_id: z.string(),
      actor: Actor,
      request_id: z.string().nullable(),
      data: eventData[type],
    })
    .meta({ id: payloadName(type), description: `The body of a webhook: ${type}` });
}

/** `license.expiring_soon` → `LicenseExpiringSoonEvent`. */
const payloadName = (type: EventType): string =>
  `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
