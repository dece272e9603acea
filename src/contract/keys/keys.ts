import { z } from 'zod';
import { NewCustomer } from '../customers.ts';
import { endpoint } from '../endpoint.ts';
import { list, positiveDurationField } from '../fields.ts';
import { examples } from '../openapi/examples.ts';
import { bare, data } from '../reply.ts';
import {
  CustomerId,
  HostId,
  Instant,
  LicenseKey,
  Limit,
  NumericString,
  ProductId,
  Reference,
  ShownKey,
  VersionId,
} from '../scalars.ts';
import { HeartbeatSeconds, heartbeatsWithinLease, LeaseSeconds, LicenseDetails, licenseTypes } from './licenses.ts';
import { NewMetadata } from './metadata.ts';

const { productId, licenseKey } = examples.device;

/** What a key is issued by. Source: API description, POST /create-key. */
export const CreateKeyRequest = z
  .object({
    productId: ProductId,
    usesPerKey: NumericString.nullish().meta({
      description: 'How many devices may use the key, as text; absent or null means unlimited',
      examples: ['5'],
    }),
    expiryDate: Instant.nullish().describe(
      'When it expires; absent: a month after creation, or what `expiresAfter` says; null: never',
    ),
    expiresAfter: positiveDurationField()
      .optional()
      .describe('How long it lasts from its first use, ISO 8601; not together with `expiryDate`'),
    gracePeriod: positiveDurationField()
      .optional()
      .describe('How long after its end it may still be used, ISO 8601; absent: not at all'),
    reference: Reference.optional(),
    customerId: CustomerId.nullish().describe('The customer it is for; not together with `newCustomer`'),
    newCustomer: NewCustomer.nullish().describe('Creates its customer; not together with `customerId`'),
    licenseType: z.enum(licenseTypes).optional().describe('Default node-locked'),
    maxConcurrentSessions: Limit.nullish().describe(
      'How many sessions a floating licence has; absent or null means unlimited. Only with licenseType floating',
    ),
    heartbeatInterval: HeartbeatSeconds.optional(),
    sessionLeaseDuration: LeaseSeconds.optional(),
    allowedHosts: list(HostId, 1, 1_000).nullish().describe('The only hosts that may use it; absent or null means any'),
    metadata: NewMetadata.optional(),
    customerCanSelfReset: z.boolean().optional().describe('Whether its customer may free devices; default false'),
    versionId: VersionId.nullish().describe('The product version it is for; absent or null means any'),
  })
  .refine((body) => body.customerId == null || body.newCustomer == null, {
    message: 'customerId and newCustomer cannot be combined',
    path: ['customerId'],
  })
  .refine((body) => body.expiresAfter === undefined || body.expiryDate === undefined, {
    message: 'expiresAfter and expiryDate cannot be combined',
    path: ['expiresAfter'],
  })
  .refine((body) => body.licenseType === 'floating' || body.maxConcurrentSessions == null, {
    message: 'maxConcurrentSessions goes with licenseType floating',
    path: ['maxConcurrentSessions'],
  })
  .refine(heartbeatsWithinLease, {
    message: 'heartbeatInterval is longer than sessionLeaseDuration',
    path: ['heartbeatInterval'],
  })
  .meta({
    id: 'CreateKeyRequest',
    not: {
      anyOf: [
        {
          properties: { expiresAfter: { type: 'string' }, expiryDate: {} },
          required: ['expiresAfter', 'expiryDate'],
        },
        {
          properties: { customerId: { type: 'string' }, newCustomer: { type: 'object' } },
          required: ['customerId', 'newCustomer'],
        },
        {
          properties: { maxConcurrentSessions: { type: 'integer' }, licenseType: { const: 'node-locked' } },
          required: ['maxConcurrentSessions'],
        },
      ],
    },
  });

/** The operations on keys themselves. */
export const keys = {
  /** Issues a licence key for an active product. */
  create: endpoint({
    summary: 'Issue a licence key',
    description:
      'Issues a licence key for an active product, for a customer who exists, for a new one, or for none. Keep the ' +
      'key: it is shown in full here, and later only to tokens that may reveal keys.',
    method: 'POST',
    path: '/create-key',
    scope: 'license:write',
    refusesOthersFields: true,
    body: CreateKeyRequest,
    reply: bare('CreateKeyResponse', { key: ShownKey.meta({ description: 'The new licence key, in full' }) }),
    example: {
      body: {
        productId,
        usesPerKey: '5',
        expiryDate: '2027-11-21T10:00:00Z',
        newCustomer: { name: 'Ada Ltd', email: 'it@ada.example' },
        reference: 'order-1042',
        gracePeriod: 'P14D',
        metadata: { features: { sso: true }, orderNumber: 'A-1042' },
      },
      reply: { key: licenseKey },
    },
    headers: ['LKM-Budget-Remaining'],
    errors: ['productUnavailable', 'customerNotFound', 'versionNotFound', 'emailTaken', 'referenceTaken', 'issueLimit'],
    source: 'API description, POST /create-key; fields it does not show: decisions 0004 and 0048',
  }),

  /** Shows one licence with its devices and its customer. */
  get: endpoint({
    summary: 'Show a licence key',
    description:
      'Shows limits, state and devices of a licence key, and its customer. Keys and addresses are masked unless the ' +
      'token is an admin or holds `license:reveal`. A token of kind `client` learns nothing about other devices: it ' +
      'gets no devices, no sessions, no files, no allowed hosts, no free metadata and no e-mail address, and finds no ' +
      'key by its reference.',
    method: 'GET',
    path: '/key',
    scope: 'license:read',
    openToClients: true,
    query: z
      .object({
        productId: ProductId.optional().describe('Its product; a key of another one is then not found'),
        licenseKey: LicenseKey.optional().describe('The key; required unless `reference` is given'),
        reference: Reference.optional().describe('The reference of the key, in place of `licenseKey`'),
      })
      .refine((query) => (query.licenseKey === undefined) !== (query.reference === undefined), {
        message: 'one of licenseKey and reference is required',
        path: ['licenseKey'],
      }),
    reply: data('GetKeyResponse', LicenseDetails),
    example: {
      query: { productId, licenseKey },
      reply: { license: examples.license, customer: examples.customerSummary, files: [examples.signedFile] },
    },
    errors: ['licenseNotFound'],
    source: 'API description, GET /key; tokens of kind client: decision 0008; reference: 0048; without product: 0005',
  }),
};
