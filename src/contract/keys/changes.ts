import { z } from 'zod';
import { NewCustomer } from '../customers.ts';
import { endpoint } from '../endpoint.ts';
import {
  asNumber,
  changing,
  durationField,
  eitherOf,
  flagField,
  notBoth,
  positiveDurationField,
  request,
} from '../fields.ts';
import { bare, data, done } from '../reply.ts';
import {
  CustomerId,
  IfUpdatedAt,
  Instant,
  InstantText,
  LicenseKey,
  Limit,
  PlanId,
  ShownKey,
  shown,
  text,
  VersionId,
} from '../scalars.ts';
import { License, licenseAddress, licenseSettings } from './licenses.ts';
import { MetadataChanges } from './metadata.ts';

/** The fields of a licence that can be changed. An absent field stays unchanged; null clears a field. */
const changes = {
  maxActivations: Limit.nullish().describe('How many devices may use it; null means unlimited'),
  expirationDate: Instant.nullish().describe('When it expires; null: never. Takes the place of expiresAfter'),
  customerId: CustomerId.nullish().describe('The customer it is for; null: nobody. Not together with `newCustomer`'),
  newCustomer: NewCustomer.optional().describe('Creates its customer; not together with `customerId`'),
  ...licenseSettings,
  metadata: MetadataChanges.optional(),
  versionId: VersionId.nullish().describe('The product version it is for; null means any'),
  planId: PlanId.nullish().describe('The plan whose features it follows; its limits and its expiry stay. null: none'),
};

const blocking = {
  ...licenseAddress,
  note: text(1, 500).optional().describe('Why; kept in the audit log'),
  ifUpdatedAt: IfUpdatedAt,
};

const force = z.boolean().optional().describe('Whether a limit may be below what is in use; default false');

export const UpdateKeyRequest = changing(
  'UpdateKeyRequest',
  { ...licenseAddress, ...changes, force, ifUpdatedAt: IfUpdatedAt },
  Object.keys(changes),
  notBoth('customerId', 'newCustomer'),
);

export const RenewKeyRequest = request('RenewKeyRequest', {
  ...licenseAddress,
  duration: positiveDurationField().describe(
    'How much, ISO 8601, by the calendar; from now, days or more go to the end of that day, UTC',
  ),
  from: z.enum(['end', 'now', 'later']).optional().describe('From when; default the later of its expiry and now'),
  ifUpdatedAt: IfUpdatedAt,
});

const unchanged = z.literal(true).optional().describe('Present when it was so already');

export const BlockKeyRequest = request('BlockKeyRequest', blocking);

export const TransferKeyRequest = z
  .object({
    ...licenseAddress,
    customerId: CustomerId.nullish().describe('The customer; null: nobody. Not together with `newCustomer`'),
    newCustomer: NewCustomer.optional().describe('Creates the customer; not together with `customerId`'),
    ifUpdatedAt: IfUpdatedAt,
  })
  .refine(...eitherOf('customerId', 'newCustomer'))
  .meta({ id: 'TransferKeyRequest', oneOf: [{ required: ['customerId'] }, { required: ['newCustomer'] }] });

export const ReissueKeyRequest = request('ReissueKeyRequest', {
  ...licenseAddress,
  overlap: durationField()
    .optional()
    .describe('How long the old key still works, ISO 8601; default P7D. Keys before that one end no later'),
  ifUpdatedAt: IfUpdatedAt,
});

export const RevokeKeyRequest = request('RevokeKeyRequest', {
  ...licenseAddress,
  reason: text(1, 500).optional().describe('Why; shown with the licence'),
  ifUpdatedAt: IfUpdatedAt,
});

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
    reply: data('UpdateKeyResponse', License, 'License updated'),
    example: { maxActivations: 5, metadata: { features: { seats: null }, plan: 'pro' } },
    errors: [
      'licenseNotFound',
      'licenseRevoked',
      'customerNotFound',
      'versionNotFound',
      'planNotFound',
      'emailTaken',
      'stale',
      'inUse',
    ],
  }),

  /** Moves the expiry of a licence. Source: decision 0049. */
  renew: endpoint('POST /key/renew', 'license:write', {
    summary: 'Renew a licence key',
    description:
      'Adds a duration to the expiry of a licence, to now, or to the later of the two. The licence must have an expiry. Months ' +
      'keep the day of the first expiry: the 31st, or the last day of a shorter month.',
    body: RenewKeyRequest,
    reply: data('RenewKeyResponse', License),
    errors: ['licenseNotFound', 'licenseRevoked', 'stale', 'noEnd'],
  }),

  /** Gives a licence to another customer, to a new customer, or to nobody. Source: decision 0049. */
  transfer: endpoint('POST /key/transfer', 'license:write', {
    summary: 'Give a licence key to another customer',
    description: 'Gives a licence key to a customer who exists, to a new one, or to nobody. Devices keep their slots.',
    body: TransferKeyRequest,
    reply: data('TransferKeyResponse', License),
    example: { customerId: 'cus_01jd7q41c8fzks2v0t9e6h3m5p' },
    errors: ['licenseNotFound', 'licenseRevoked', 'customerNotFound', 'emailTaken', 'stale'],
  }),

  /** Gives a licence a new key and ends the old one after a while. Source: decision 0002. */
  reissue: endpoint('POST /key/reissue', 'license:write', {
    summary: 'Replace a licence key by a new one',
    description:
      'Gives a licence a new key; its id, devices, sessions, files and history stay. Every operation takes the old key ' +
      'too until `overlap` is over, and after that only `GET /key`, from tokens other than those of kind `client`, and ' +
      '`POST /key/deactivate-offline`. No other licence gets the old key while this one is there. Keep the new key: it is ' +
      'shown in full here.',
    body: ReissueKeyRequest,
    reply: bare('ReissueKeyResponse', {
      message: shown('For people', 'License key reissued'),
      key: ShownKey.meta({ ...LicenseKey.meta(), description: 'The new key, in full' }),
      previousKeyUntil: InstantText.describe('Until when the old key works'),
    }),
    example: { overlap: 'P7D' },
    errors: ['licenseNotFound', 'licenseRevoked', 'stale'],
  }),

  /** Disables a licence; a disabled licence stays disabled. Source: decision 0049. */
  block: endpoint('POST /key/block', 'license:write', {
    summary: 'Block a licence key',
    description: 'Disables a licence: it cannot be activated, signed or checked out. Devices keep their slots.',
    aliases: { 'POST /block-key': {} },
    body: BlockKeyRequest,
    reply: bare('BlockKeyResponse', { message: shown('For people', 'License blocked'), unchanged }),
    example: { note: 'chargeback' },
    errors: ['licenseNotFound', 'licenseRevoked', 'stale'],
  }),

  /** Takes back the blocking of a licence. Source: decision 0049. */
  unblock: endpoint('POST /key/unblock', 'license:write', {
    summary: 'Unblock a licence key',
    description: 'Makes a blocked licence usable again. A key that is not blocked stays as it is.',
    aliases: { 'POST /unblock-key': {} },
    body: request('UnblockKeyRequest', blocking),
    reply: bare('UnblockKeyResponse', { message: shown('For people', 'License unblocked'), unchanged }),
    errors: ['licenseNotFound', 'licenseRevoked', 'stale'],
  }),

  /** Ends a licence for ever, and keeps it with its reason. Source: decision 0049. */
  revoke: endpoint('POST /key/revoke', 'license:write', {
    summary: 'Revoke a licence key for ever',
    description:
      'Ends a licence for ever: it cannot be used, changed, unblocked or renewed any more. It can be deleted, and a proof ' +
      'still frees its device. Its licence files stand in the revocation list. One that is revoked keeps its date and its ' +
      'reason.',
    body: RevokeKeyRequest,
    reply: bare('RevokeKeyResponse', { message: shown('For people', 'License revoked') }),
    example: { reason: 'refunded' },
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
