import { z } from 'zod';
import { CustomerSummary, NewCustomer } from './customers.ts';
import { endpoint } from './endpoint.ts';
import { bare, data, plain } from './reply.ts';
import {
  CustomerId,
  HostId,
  Instant,
  InstantText,
  LicenseKey,
  NumericString,
  ProductId,
  ShownIp,
  ShownKey,
  text,
} from './scalars.ts';

/** A device: the link between a key and one host. Source: API description, "Device". */
export const Device = z
  .looseObject({
    id: z.string(),
    hostId: z.string(),
    deviceTag: z.string().describe('"No tag" when there is none'),
    ipAddress: ShownIp.describe('Masked for read-only callers'),
    activationTime: InstantText,
  })
  .meta({ id: 'Device' });
export type Device = z.output<typeof Device>;

export const licenseTypes = ['node-locked', 'floating'] as const;

/** What a licence switches on in the product. */
const Features = z.record(text(1, 64), z.union([z.boolean(), z.number(), text(0, 256)]));

/** So that a licence file stays well under the 64 KiB that its verifier reads. */
const MAX_FEATURES = 40;

const NewFeatures = Features.refine((features) => Object.keys(features).length <= MAX_FEATURES, {
  message: `at most ${MAX_FEATURES} features`,
});

/** A licence in its shorter form. Source: API description, "License". */
const ShortLicense = z.looseObject({
  id: z.string(),
  key: ShownKey.describe('Masked for read-only callers'),
  productId: z.string(),
  maxActivations: z.int().nullable().describe('null means unlimited'),
  activations: z.int(),
  devices: z.array(Device),
  activated: z.boolean().describe('Has a device, and the vendor has not disabled it'),
  expirationDate: InstantText.nullable().describe('null means no expiration'),
});

/** The fields that only the full form carries. */
const licenseExtras = {
  metadata: z.looseObject({ features: Features, is_trial: z.boolean() }),
  allowedHosts: z.array(z.string()).nullable().describe('The only hosts that may activate; null means any'),
  licenseType: z.string().describe(licenseTypes.join(', ')),
  maxConcurrentSessions: z.int().nullable().describe('null means unlimited'),
  heartbeatInterval: z.int().describe('Seconds'),
  sessionLeaseDuration: z.int().describe('Seconds'),
  customerCanSelfReset: z.boolean(),
  vendorDisabled: z.boolean(),
  versionId: z.string().nullable(),
  version: z.unknown().nullable(),
  createdAt: InstantText,
  updatedAt: InstantText,
};

/** A licence as `GET /key` shows it; everything beyond the shorter form may be absent. */
export const License = z
  .looseObject({ ...ShortLicense.shape, ...z.object(licenseExtras).partial().shape })
  .meta({ id: 'License' });
export type License = z.output<typeof License>;

/** The fields that name one licence. */
const licenseAddress = { productId: ProductId, licenseKey: LicenseKey };

export const keys = {
  /** Issues a licence key for an active product. */
  create: endpoint({
    summary: 'Issue a licence key',
    method: 'POST',
    path: '/create-key',
    scope: 'license:write',
    body: z
      .object({
        productId: ProductId,
        usesPerKey: NumericString.nullish().describe('Maximum number of activations; absent or null: unlimited'),
        expiryDate: Instant.nullish().describe('Absent: one month after creation; null: never'),
        customerId: CustomerId.nullish(),
        newCustomer: NewCustomer.nullish(),
        licenseType: z.enum(licenseTypes).optional(),
        maxConcurrentSessions: z.int().positive().max(999_999_999).nullish(),
        heartbeatInterval: z.int().min(60).max(86_400).optional().describe('Seconds; default 300'),
        sessionLeaseDuration: z.int().min(300).max(2_592_000).optional().describe('Seconds; default 900'),
        allowedHosts: z.array(HostId).min(1).max(1_000).nullish(),
        metadata: z.object({ features: NewFeatures.optional(), is_trial: z.boolean().optional() }).optional(),
        customerCanSelfReset: z.boolean().optional(),
      })
      .refine((body) => body.customerId == null || body.newCustomer == null, {
        message: 'customerId and newCustomer cannot be combined',
        path: ['customerId'],
      }),
    reply: bare({ key: ShownKey }),
    errors: ['productUnavailable', 'customerNotFound', 'emailTaken', 'issueLimit'],
    source: 'API description, POST /create-key; fields it does not show: decision 0004',
  }),

  /** Shows one licence with its devices and its customer. */
  get: endpoint({
    summary: 'Show a licence key',
    method: 'GET',
    path: '/key',
    scope: 'license:read',
    query: z.object(licenseAddress),
    reply: data(z.looseObject({ license: License, customer: CustomerSummary.nullable() })),
    errors: ['licenseNotFound'],
    source: 'API description, GET /key',
  }),

  /** Frees the slot of one device, or without `hostId` of every device. */
  deactivate: endpoint({
    summary: 'Free one device of a licence key, or all',
    method: 'POST',
    path: '/deactivate-key',
    scope: 'license:activate',
    body: z.object({ ...licenseAddress, hostId: HostId.optional() }),
    reply: bare({ message: z.string() }),
    errors: ['notActivated', 'deviceNotFound'],
    source: 'API description, POST /deactivate-key',
  }),

  /** Signs an offline licence file for one device; takes a slot unless the device holds one. */
  sign: endpoint({
    summary: 'Sign an offline licence file for a device',
    method: 'POST',
    path: '/key/sign',
    scope: 'license:sign',
    body: z.object({
      ...licenseAddress,
      hostId: HostId,
      ttl: z.int().min(60).max(3_155_760_000).optional().describe('Seconds; required when the licence never expires'),
    }),
    reply: plain({ file: z.string().describe('The licence file: JSON text') }),
    errors: [
      'licenseNotFound',
      'licenseExpired',
      'licenseDisabled',
      'customerInactive',
      'deviceNotAllowed',
      'activationLimit',
    ],
    source: 'API description, POST /key/sign',
  }),

  /** Leases one concurrent use of a floating licence. */
  checkout: endpoint({
    summary: 'Lease a session of a floating licence',
    method: 'POST',
    path: '/key/checkout',
    scope: 'license:activate',
    body: z.object({
      ...licenseAddress,
      hostId: HostId.optional(),
      deviceTag: text(1, 64).optional(),
      userIdentifier: text(1, 256).optional(),
    }),
    reply: bare({
      message: z.string(),
      sessionId: z.string(),
      sessionSecret: z.string().describe('The key of the HMAC that signs heartbeats; shown this once'),
      nextNonce: z.string(),
      expiresAt: InstantText,
      heartbeatInterval: z.int().describe('Seconds'),
      currentSessions: z.int(),
      maxSessions: z.int().nullable(),
    }),
    errors: [
      'licenseNotFound',
      'wrongLicenseType',
      'licenseExpired',
      'licenseDisabled',
      'customerInactive',
      'deviceNotAllowed',
      'sessionLimit',
    ],
    source: 'API description, POST /key/checkout; its fields: decision 0010',
  }),
};
