import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { list, positiveDurationField, request } from '../fields.ts';
import { bare } from '../reply.ts';
import {
  CustomerId,
  Email,
  HostId,
  Instant,
  LicenseId,
  LicenseKey,
  Limit,
  Name,
  ProductId,
  Reference,
  ShownKey,
  text,
  VersionName,
} from '../scalars.ts';
import { licenseSettings, withConsistentSettings } from './licenses.ts';
import { NewMetadata } from './metadata.ts';

/** The most devices that a key can bring along. */
const MAX_DEVICES = 10_000;

const ImportedDevice = request('ImportedDevice', {
  hostId: HostId,
  deviceTag: text(1, 64).nullish(),
  ipAddress: z.union([z.ipv4(), z.ipv6()]).optional().describe('Where it was activated from; absent: this request'),
  activationTime: Instant.optional().describe('When it was activated; absent: now'),
}).describe('A device that holds a slot of a key that moves in');

const ImportedCustomer = request('ImportedCustomer', {
  id: CustomerId.optional(),
  email: Email.optional(),
  name: Name.optional().describe('Of one that is created; its address unless given'),
  active: z.boolean().optional().describe('Of one that is created: whether its keys may be used; default true'),
}).describe('The customer of this id, else of this e-mail address; one that is not there is created');

/** A key that moves in, as it was. Source: decision 0063. */
export const ImportKeyRequest = withConsistentSettings(
  z
    .object({
      productId: ProductId,
      key: LicenseKey.refine((key) => key.trim() === key, 'Invalid string: must not have spaces around it'),
      id: z
        .string()
        .regex(/^lic_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
        .optional()
        .describe('The id that it had in another database of lkm, which holds `createdAt`; absent: a new one'),
      reference: Reference.nullish(),
      maxActivations: Limit.nullish().describe('How many devices may use it; absent or null means unlimited'),
      expirationDate: Instant.nullish().describe(
        'When it expires or has expired; null: never, or not before its first use',
      ),
      renewalDay: z.int().min(29).max(31).nullish().describe('The day of the month that renewals lead it back to'),
      expiresAfter: positiveDurationField().nullish().describe('How long it lasts from its first use, ISO 8601'),
      customer: ImportedCustomer.nullish().describe('The customer it is for; absent or null: nobody'),
      ...licenseSettings,
      metadata: NewMetadata.optional(),
      vendorDisabled: z.boolean().optional().describe('Whether it is blocked; default false'),
      revokedAt: Instant.nullish().describe('When it was revoked for ever; absent or null: it is not'),
      revocationReason: text(1, 500).nullish().describe('Why it was revoked; goes with revokedAt'),
      plan: Name.nullish().describe('The name of the plan that its features follow; null: none'),
      version: VersionName.nullish().describe('The name of the product version it is for; null means any'),
      createdAt: Instant.optional().describe('When it was issued; absent: now'),
      devices: list(ImportedDevice, 0, MAX_DEVICES).optional().describe('The devices that hold its slots'),
      force: z.boolean().optional().describe('Whether it may have more devices than slots; default false'),
    })
    .refine(({ devices = [] }) => new Set(devices.map(({ hostId }) => hostId)).size === devices.length, {
      message: 'Invalid list: a host is in it twice',
      path: ['devices'],
    })
    .refine(({ revokedAt, revocationReason }) => revocationReason == null || revokedAt != null, {
      message: 'revocationReason goes with revokedAt',
      path: ['revocationReason'],
    })
    .refine(({ id, createdAt }) => id === undefined || createdAt !== undefined, {
      message: 'id goes with createdAt',
      path: ['id'],
    }),
).meta({ id: 'ImportKeyRequest' });

export const keyImport = {
  /** Takes in a key that another system has issued, with all that belongs to it. Source: decision 0063. */
  import: endpoint('POST /key/import', 'license:write', {
    summary: 'Import a licence key',
    description:
      'Takes in a key that exists elsewhere, of any format, with its limits, its expiry, its customer and the devices that ' +
      'hold its slots. What is not given is as unlimited as it can be. A key that is here already is refused, and ' +
      'so is one that was revoked here, also when its licence was deleted.',
    refusesOthersFields: true,
    body: ImportKeyRequest,
    reply: bare('ImportKeyResponse', {
      key: ShownKey.meta({ ...LicenseKey.meta(), description: 'The key, in full' }),
      id: LicenseId,
    }),
    example: {
      maxActivations: 3,
      expirationDate: '2027-11-21T10:00:00Z',
      customer: { email: 'it@ada.example', name: 'Ada Ltd' },
      createdAt: '2019-05-04T08:00:00Z',
      devices: [{ hostId: 'build-01', activationTime: '2019-05-05T09:30:00Z' }],
    },
    errors: [
      'productNotFound',
      'customerNotFound',
      'emailTaken',
      'versionNotFound',
      'planNotFound',
      'inUse',
      'keyTaken',
      'keyRevoked',
      'referenceTaken',
      'issueLimit',
    ],
  }),
};
