import { z } from 'zod';
import { NewCustomer } from '../customers.ts';
import { endpoint } from '../endpoint.ts';
import { asNumber, changing, eitherOf, flagField, notBoth, positiveDurationField, request } from '../fields.ts';
import { bare, data, done } from '../reply.ts';
import { CustomerId, IfUpdatedAt, Instant, Limit, shown, text, VersionId } from '../scalars.ts';
import { License, licenseAddress, licenseSettings } from './licenses.ts';
import { MetadataChanges } from './metadata.ts';

/** What can be changed of a licence. Absent is unchanged; null clears what may be null. */
const changes = {
  maxActivations: Limit.nullish().describe('How many devices may use it; null means unlimited'),
  expirationDate: Instant.nullish().describe('When it expires; null: never. Takes the place of expiresAfter'),
  customerId: CustomerId.nullish().describe('The customer it is for; null: nobody. Not together with `newCustomer`'),
  newCustomer: NewCustomer.optional().describe('Creates its customer; not together with `customerId`'),
  ...licenseSettings,
  metadata: MetadataChanges.optional(),
  versionId: VersionId.nullish().describe('The product version it is for; null means any'),
};

const blocking = {
  ...licenseAddress,
  note: text(1, 500).optional().describe('Why; kept in the audit log'),
  ifUpdatedAt: IfUpdatedAt,
};

const force = z.boolean().optional().describe('Whether a limit may be below what is in use; default false');

export const UpdateKeyRequest = changing(
  'UpdateKeyRequest',
  { ...licenseAddress, ...changes, force },
  Object.keys(changes),
  notBoth('customerId', 'newCustomer'),
);

export const RenewKeyRequest = request('RenewKeyRequest', {
  ...licenseAddress,
  duration: positiveDurationField().describe('How much, ISO 8601, by the calendar'),
  from: z.enum(['end', 'now', 'later']).optional().describe('From when; default the later of its end and now'),
  ifUpdatedAt: IfUpdatedAt,
});

export const BlockKeyRequest = request('BlockKeyRequest', blocking);

export const keyChanges = {
  /** Changes limits, end, customer and other fields of a licence. Source: decision 0049. */
  update: endpoint('PATCH /key', 'license:write', {
    summary: 'Change a licence key',
    description:
      'Changes the fields that are given and no others. Null clears a field that may be null. `metadata` is merged by ' +
      'name, and so are its `features`: null removes an entry. A limit below what is in use is refused unless `force` ' +
      'is true; devices and sessions then stay, and new ones have to wait.',
    refusesOthersFields: true,
    otherNames: { maxActivations: ['maxActivations', asNumber], expiryDate: ['expirationDate'] },
    body: UpdateKeyRequest,
    reply: data('UpdateKeyResponse', License),
    example: { maxActivations: 5, metadata: { features: { seats: null }, plan: 'pro' } },
    errors: ['licenseNotFound', 'customerNotFound', 'versionNotFound', 'emailTaken', 'stale', 'inUse'],
  }),

  /** Moves the end of a licence. Source: decision 0049. */
  renew: endpoint('POST /key/renew', 'license:write', {
    summary: 'Renew a licence key',
    description:
      'Adds a duration to the end of a licence, to now, or to the later of the two. The licence must have an end.',
    body: RenewKeyRequest,
    reply: data('RenewKeyResponse', License),
    errors: ['licenseNotFound', 'stale', 'noEnd'],
  }),

  /** Gives a licence to another customer, to a new one, or to nobody. Source: decision 0049. */
  transfer: endpoint('POST /key/transfer', 'license:write', {
    summary: 'Give a licence key to another customer',
    description: 'Gives a licence key to a customer who exists, to a new one, or to nobody. Devices keep their slots.',
    body: z
      .object({
        ...licenseAddress,
        customerId: CustomerId.nullish().describe('The customer; null: nobody. Not together with `newCustomer`'),
        newCustomer: NewCustomer.optional().describe('Creates the customer; not together with `customerId`'),
        ifUpdatedAt: IfUpdatedAt,
      })
      .refine(...eitherOf('customerId', 'newCustomer'))
      .meta({ id: 'TransferKeyRequest', oneOf: [{ required: ['customerId'] }, { required: ['newCustomer'] }] }),
    reply: data('TransferKeyResponse', License),
    example: { customerId: 'cus_01jd7q41c8fzks2v0t9e6h3m5p' },
    errors: ['licenseNotFound', 'customerNotFound', 'emailTaken', 'stale'],
  }),

  /** Disables a licence; one that is disabled stays so. Source: decision 0049. */
  block: endpoint('POST /key/block', 'license:write', {
    summary: 'Block a licence key',
    description: 'Disables a licence: it cannot be activated, signed or checked out. Devices keep their slots.',
    aliases: { 'POST /block-key': {} },
    body: BlockKeyRequest,
    reply: bare('BlockKeyResponse', { message: shown('For people', 'License blocked') }),
    example: { note: 'chargeback' },
    errors: ['licenseNotFound', 'stale'],
  }),

  /** Takes back the blocking of a licence. Source: decision 0049. */
  unblock: endpoint('POST /key/unblock', 'license:write', {
    summary: 'Unblock a licence key',
    description: 'Makes a blocked licence usable again. A key that is not blocked stays as it is.',
    aliases: { 'POST /unblock-key': {} },
    body: request('UnblockKeyRequest', blocking),
    reply: bare('UnblockKeyResponse', { message: shown('For people', 'License unblocked') }),
    errors: ['licenseNotFound', 'stale'],
  }),

  /** Removes a licence for ever, with its devices and sessions. Source: decision 0049. */
  delete: endpoint('DELETE /key', 'license:write', {
    summary: 'Delete a licence key for ever',
    description:
      'Deletes a licence key with its devices and sessions; `force` is needed where it has any. This cannot be undone.',
    query: z.object({
      ...licenseAddress,
      force: flagField().optional().describe('Whether a key that is in use may be deleted; default false'),
      ifUpdatedAt: IfUpdatedAt,
    }),
    reply: done('DeleteKeyResponse', 'keys.delete'),
    errors: ['licenseNotFound', 'stale', 'inUse'],
  }),
};
