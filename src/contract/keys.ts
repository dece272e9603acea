import { z } from 'zod';
import { NewCustomer } from './customers.ts';
import { endpoint } from './endpoint.ts';
import { examples } from './examples.ts';
import { list } from './fields.ts';
import {
  DEFAULT_HEARTBEAT_SECONDS,
  DEFAULT_LEASE_SECONDS,
  LicenseDetails,
  licenseAddress,
  licenseTypes,
  NewMetadata,
} from './licenses.ts';
import { bare, data } from './reply.ts';
import { CustomerId, HostId, Instant, Limit, NumericString, ProductId, ShownKey } from './scalars.ts';

const { productId, licenseKey } = examples.device;

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
    body: z
      .object({
        productId: ProductId,
        usesPerKey: NumericString.nullish().meta({
          description: 'How many devices may use the key, as text; absent or null means unlimited',
          examples: ['5'],
        }),
        expiryDate: Instant.nullish().describe('When it expires; absent: a month after creation; null: never'),
        customerId: CustomerId.nullish().describe('The customer it is for; not together with `newCustomer`'),
        newCustomer: NewCustomer.nullish().describe('Creates its customer; not together with `customerId`'),
        licenseType: z.enum(licenseTypes).optional().describe('Default node-locked'),
        maxConcurrentSessions: Limit.nullish().describe(
          'How many sessions a floating licence has; absent or null means unlimited. Only with licenseType floating',
        ),
        heartbeatInterval: z
          .int()
          .min(60)
          .max(86_400)
          .optional()
          .describe(
            `Seconds between two reports of a session, at most sessionLeaseDuration; default ${DEFAULT_HEARTBEAT_SECONDS}`,
          ),
        sessionLeaseDuration: z
          .int()
          .min(300)
          .max(2_592_000)
          .optional()
          .describe(`Seconds that a session lasts without a report; default ${DEFAULT_LEASE_SECONDS}`),
        allowedHosts: list(HostId, 1, 1_000)
          .nullish()
          .describe('The only hosts that may use it; absent or null means any'),
        metadata: NewMetadata.optional(),
        customerCanSelfReset: z.boolean().optional().describe('Whether its customer may free devices; default false'),
      })
      .refine((body) => body.customerId == null || body.newCustomer == null, {
        message: 'customerId and newCustomer cannot be combined',
        path: ['customerId'],
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
              properties: { customerId: { type: 'string' }, newCustomer: { type: 'object' } },
              required: ['customerId', 'newCustomer'],
            },
            {
              properties: { maxConcurrentSessions: { type: 'integer' }, licenseType: { const: 'node-locked' } },
              required: ['maxConcurrentSessions'],
            },
          ],
        },
      }),
    reply: bare('CreateKeyResponse', { key: ShownKey.meta({ description: 'The new licence key, in full' }) }),
    example: {
      body: {
        productId,
        usesPerKey: '5',
        expiryDate: '2027-11-21T10:00:00Z',
        newCustomer: { name: 'Ada Ltd', email: 'it@ada.example' },
        metadata: { features: { sso: true }, orderNumber: 'A-1042' },
      },
      reply: { key: licenseKey },
    },
    errors: ['productUnavailable', 'customerNotFound', 'emailTaken', 'issueLimit'],
    source: 'API description, POST /create-key; fields it does not show: decisions 0004 and 0030',
  }),

  /** Shows one licence with its devices and its customer. */
  get: endpoint({
    summary: 'Show a licence key',
    description:
      'Shows limits, state and devices of a licence key, and its customer. Keys and addresses are masked unless the ' +
      'token is an admin or holds `license:reveal`. A token of kind `client` learns nothing about other devices: it ' +
      'gets no devices, no sessions, no allowed hosts, no free metadata and no e-mail address.',
    method: 'GET',
    path: '/key',
    scope: 'license:read',
    openToClients: true,
    query: z.object(licenseAddress),
    reply: data('GetKeyResponse', LicenseDetails),
    example: {
      query: { productId, licenseKey },
      reply: { license: examples.license, customer: examples.customerSummary },
    },
    errors: ['licenseNotFound'],
    source: 'API description, GET /key; tokens of kind client: decision 0008',
  }),
};

/** A session that reports itself more rarely than its lease lasts would lose its seat between two reports. */
function heartbeatsWithinLease(timing: {
  readonly heartbeatInterval?: number | undefined;
  readonly sessionLeaseDuration?: number | undefined;
}): boolean {
  const { heartbeatInterval = DEFAULT_HEARTBEAT_SECONDS, sessionLeaseDuration = DEFAULT_LEASE_SECONDS } = timing;
  return heartbeatInterval <= sessionLeaseDuration;
}
