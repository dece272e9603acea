import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { list, positiveDurationField } from '../fields.ts';
import { examples } from '../openapi/examples.ts';
import { bare } from '../reply.ts';
import {
  CustomerId,
  Email,
  HostId,
  Instant,
  LicenseKey,
  Limit,
  Name,
  ProductId,
  Reference,
  ShownKey,
  text,
  VersionName,
} from '../scalars.ts';
import { HeartbeatSeconds, heartbeatsWithinLease, LeaseSeconds, licenseTypes } from './licenses.ts';
import { NewMetadata } from './metadata.ts';

/** The most devices that a key can bring along. */
const MAX_DEVICES = 10_000;

const ImportedDevice = z
  .object({
    hostId: HostId,
    deviceTag: text(1, 64).nullish(),
    ipAddress: z
      .union([z.ipv4(), z.ipv6()])
      .optional()
      .describe('The address it was activated from; absent: that of this request'),
    activationTime: Instant.optional().describe('When it was activated; absent: now'),
  })
  .meta({ id: 'ImportedDevice', description: 'A device that holds a slot of a key that moves in' });

const ImportedCustomer = z
  .object({
    id: CustomerId.optional(),
    email: Email.optional(),
    name: Name.optional().describe('Of one that is created; its address unless given'),
    active: z.boolean().optional().describe('Of one that is created: whether its keys may be used; default true'),
  })
  .meta({
    id: 'ImportedCustomer',
    description: 'The customer of this id, else of this e-mail address; one that is not there is created',
  });

/** A key that moves in, as it was. Source: decision 0063. */
export const ImportKeyRequest = z
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
      'When it expires or has expired; absent or null: never, or with `expiresAfter` not before its first use',
    ),
    expiresAfter: positiveDurationField().nullish().describe('How long it lasts from its first use, ISO 8601'),
    gracePeriod: positiveDurationField().nullish().describe('How long after its end it may still be used, ISO 8601'),
    customer: ImportedCustomer.nullish().describe('The customer it is for; absent or null: nobody'),
    licenseType: z.enum(licenseTypes).optional().describe('Default node-locked'),
    maxConcurrentSessions: Limit.nullish().describe('How many sessions a floating licence has; null means unlimited'),
    heartbeatInterval: HeartbeatSeconds.optional(),
    sessionLeaseDuration: LeaseSeconds.optional(),
    allowedHosts: list(HostId, 1, 1_000).nullish().describe('The only hosts that may use it; null means any'),
    metadata: NewMetadata.optional(),
    customerCanSelfReset: z.boolean().optional().describe('Whether its customer may free devices; default false'),
    vendorDisabled: z.boolean().optional().describe('Whether it is blocked; default false'),
    version: VersionName.nullish().describe('The name of the product version it is for; null means any'),
    createdAt: Instant.optional().describe('When it was issued; absent: now'),
    devices: list(ImportedDevice, 0, MAX_DEVICES).optional().describe('The devices that hold its slots'),
    force: z.boolean().optional().describe('Whether it may have more devices than slots; default false'),
  })
  .refine((body) => body.licenseType === 'floating' || body.maxConcurrentSessions == null, {
    message: 'maxConcurrentSessions goes with licenseType floating',
    path: ['maxConcurrentSessions'],
  })
  .refine(heartbeatsWithinLease, {
    message: 'heartbeatInterval is longer than sessionLeaseDuration',
    path: ['heartbeatInterval'],
  })
  .refine(({ devices = [] }) => new Set(devices.map(({ hostId }) => hostId)).size === devices.length, {
    message: 'Invalid list: a host is in it twice',
    path: ['devices'],
  })
  .refine(({ id, createdAt }) => id === undefined || createdAt !== undefined, {
    message: 'id goes with createdAt',
    path: ['id'],
  })
  .meta({ id: 'ImportKeyRequest' });

/** The operation that takes in keys of other systems. */
export const keyImport = {
  /** Takes in a key that another system has issued, with all that belongs to it. */
  import: endpoint({
    summary: 'Import a licence key',
    description:
      'Takes in a key that exists elsewhere, of any format, as it is: with its limits, its end, its customer and the ' +
      'devices that hold its slots. What is not given is as unlimited as it can be. Nothing is overwritten: a key that is ' +
      'here already is refused.',
    method: 'POST',
    path: '/key/import',
    scope: 'license:write',
    refusesOthersFields: true,
    body: ImportKeyRequest,
    reply: bare('ImportKeyResponse', {
      key: ShownKey.meta({ description: 'The key, in full' }),
      id: z.string().meta({ description: 'Identifier of the licence', examples: [examples.license.id] }),
    }),
    example: {
      body: {
        productId: examples.device.productId,
        key: 'ACME-2019-0042-F3D9-77AB-10CE',
        maxActivations: 3,
        expirationDate: '2027-11-21T10:00:00Z',
        customer: { email: 'it@ada.example', name: 'Ada Ltd' },
        createdAt: '2019-05-04T08:00:00Z',
        devices: [{ hostId: 'build-01', activationTime: '2019-05-05T09:30:00Z' }],
      },
      reply: { key: 'ACME-2019-0042-F3D9-77AB-10CE', id: examples.license.id },
    },
    errors: [
      'productNotFound',
      'customerNotFound',
      'emailTaken',
      'versionNotFound',
      'inUse',
      'keyTaken',
      'referenceTaken',
      'issueLimit',
    ],
    source: 'decision 0063',
  }),
};
