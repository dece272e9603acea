import { z } from 'zod';
import { NewCustomer } from '../customers.ts';
import { endpoint } from '../endpoint.ts';
import { changing, flagField, list, positiveDurationField } from '../fields.ts';
import { MetadataChanges } from '../metadata-changes.ts';
import { examples } from '../openapi/examples.ts';
import { bare, data, done } from '../reply.ts';
import { CustomerId, HostId, IfUpdatedAt, Instant, Limit, text } from '../scalars.ts';
import { HeartbeatSeconds, LeaseSeconds, License, licenseAddress, licenseTypes } from './licenses.ts';

const { productId, licenseKey } = examples.device;
const address = { productId, licenseKey };

/** What can be changed of a licence. Absent is unchanged; null clears what may be null. */
const changes = {
  maxActivations: Limit.nullish().describe('How many devices may use it; null means unlimited'),
  expirationDate: Instant.nullish().describe('When it expires; null: never. Takes the place of expiresAfter'),
  gracePeriod: positiveDurationField()
    .nullish()
    .describe('How long after its end it may still be used, ISO 8601; null: not at all'),
  customerId: CustomerId.nullish().describe('The customer it is for; null: nobody'),
  metadata: MetadataChanges.optional(),
  allowedHosts: list(HostId, 1, 1_000).nullish().describe('The only hosts that may use it; null means any'),
  licenseType: z.enum(licenseTypes).optional().describe('node-locked takes away maxConcurrentSessions'),
  maxConcurrentSessions: Limit.nullish().describe('How many sessions a floating licence has; null means unlimited'),
  heartbeatInterval: HeartbeatSeconds.optional(),
  sessionLeaseDuration: LeaseSeconds.optional(),
  customerCanSelfReset: z.boolean().optional().describe('Whether its customer may free devices'),
  versionId: text(1, 256).nullish().describe('The product version it is for; null means any'),
};

const changeable = Object.keys(changes) as (keyof typeof changes)[];

const note = text(1, 500).optional().describe('Why; kept in the audit log');

const switching = z.object({ ...licenseAddress, note: note, ifUpdatedAt: IfUpdatedAt });

/** What is changed of a key. */
export const UpdateKeyRequest = changing('UpdateKeyRequest', changeable, {
  ...licenseAddress,
  ...changes,
  force: z.boolean().optional().describe('Whether a limit may be below what is in use; default false'),
  ifUpdatedAt: IfUpdatedAt,
});

/** By how much a key is renewed. */
export const RenewKeyRequest = z
  .object({
    ...licenseAddress,
    duration: positiveDurationField().describe('How much, ISO 8601, by the calendar'),
    from: z
      .enum(['end', 'now', 'later'])
      .optional()
      .describe('From when: its end, now, or the later of the two; default later'),
    ifUpdatedAt: IfUpdatedAt,
  })
  .meta({ id: 'RenewKeyRequest' });

/** The key that is blocked. */
export const BlockKeyRequest = switching.meta({ id: 'BlockKeyRequest' });

/** The operations that change keys. */
export const keyChanges = {
  /** Changes limits, end, customer and other fields of a licence; what is not given stays as it is. */
  update: endpoint({
    summary: 'Change a licence key',
    description:
      'Changes the fields that are given and no others. Null clears a field that may be null. `metadata` is merged by ' +
      'name, and so are its `features`: null removes an entry. A limit below what is in use is refused unless `force` ' +
      'is true; devices and sessions then stay, and new ones have to wait.',
    method: 'PATCH',
    path: '/key',
    scope: 'license:write',
    refusesOthersFields: true,
    body: UpdateKeyRequest,
    reply: data('UpdateKeyResponse', License),
    example: {
      body: { ...address, maxActivations: 10, metadata: { features: { sso: null }, plan: 'pro' } },
      reply: { ...examples.license, maxActivations: 10 },
    },
    errors: ['licenseNotFound', 'customerNotFound', 'versionNotFound', 'stale', 'inUse'],
    source: 'decision 0049',
  }),

  /** Moves the end of a licence. */
  renew: endpoint({
    summary: 'Renew a licence key',
    description:
      'Adds a duration to the end of a licence, to now, or to whichever of the two is later. A licence that never ' +
      'expires, or has no end before its first use, is refused.',
    method: 'POST',
    path: '/key/renew',
    scope: 'license:write',
    body: RenewKeyRequest,
    reply: data('RenewKeyResponse', License),
    example: {
      body: { ...address, duration: 'P1Y' },
      reply: {
        ...examples.license,
        expirationDate: '2028-11-21T10:00:00.000Z',
        graceUntil: '2028-12-05T10:00:00.000Z',
      },
    },
    errors: ['licenseNotFound', 'stale', 'noEnd'],
    source: 'decision 0049',
  }),

  /** Gives a licence to another customer, to a new one, or to nobody. */
  transfer: endpoint({
    summary: 'Give a licence key to another customer',
    description: 'Gives a licence key to a customer who exists, to a new one, or to nobody. Devices keep their slots.',
    method: 'POST',
    path: '/key/transfer',
    scope: 'license:write',
    body: z
      .object({
        ...licenseAddress,
        customerId: CustomerId.nullish().describe('The customer; null: nobody. Not together with `newCustomer`'),
        newCustomer: NewCustomer.optional().describe('Creates the customer; not together with `customerId`'),
        ifUpdatedAt: IfUpdatedAt,
      })
      .refine((body) => (body.customerId === undefined) !== (body.newCustomer === undefined), {
        message: 'one of customerId and newCustomer is required',
        path: ['customerId'],
      })
      .meta({ id: 'TransferKeyRequest', oneOf: [{ required: ['customerId'] }, { required: ['newCustomer'] }] }),
    reply: data('TransferKeyResponse', License),
    example: { body: { ...address, customerId: examples.customer.id }, reply: examples.license },
    errors: ['licenseNotFound', 'customerNotFound', 'emailTaken', 'stale'],
    source: 'decision 0049',
  }),

  /** Disables a licence; one that is disabled stays so. */
  block: endpoint({
    summary: 'Block a licence key',
    description:
      'Disables a licence: it cannot be activated, signed or checked out until it is unblocked. Devices keep their ' +
      'slots. A key that is blocked already stays so.',
    method: 'POST',
    path: '/key/block',
    scope: 'license:write',
    body: BlockKeyRequest,
    reply: bare('BlockKeyResponse', { message: z.string().meta({ examples: ['License blocked'] }) }),
    example: { body: { ...address, note: 'chargeback' }, reply: { message: 'License blocked' } },
    errors: ['licenseNotFound', 'stale'],
    source: 'decision 0049',
  }),

  /** Takes back the blocking of a licence. */
  unblock: endpoint({
    summary: 'Unblock a licence key',
    description: 'Makes a blocked licence usable again. A key that is not blocked stays as it is.',
    method: 'POST',
    path: '/key/unblock',
    scope: 'license:write',
    body: switching.meta({ id: 'UnblockKeyRequest' }),
    reply: bare('UnblockKeyResponse', { message: z.string().meta({ examples: ['License unblocked'] }) }),
    example: { body: address, reply: { message: 'License unblocked' } },
    errors: ['licenseNotFound', 'stale'],
    source: 'decision 0049',
  }),

  /** Removes a licence for ever, with its devices and sessions. */
  delete: endpoint({
    summary: 'Delete a licence key for ever',
    description:
      'Deletes a licence key with its devices and sessions. One that has any is refused unless `force` is true. This ' +
      'cannot be undone; a blocked key keeps its history.',
    method: 'DELETE',
    path: '/key',
    scope: 'license:write',
    query: z.object({
      ...licenseAddress,
      force: flagField().optional().describe('Whether a key that is in use may be deleted; default false'),
      ifUpdatedAt: IfUpdatedAt,
    }),
    reply: done('DeleteKeyResponse', 'keys.delete'),
    example: { query: address, reply: undefined },
    errors: ['licenseNotFound', 'stale', 'inUse'],
    source: 'decision 0049',
  }),
};
