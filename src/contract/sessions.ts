import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { pageFields } from './fields.ts';
import { licenseAddress, Warning } from './keys/licenses.ts';
import { examples } from './openapi/examples.ts';
import { bare, dataList, done } from './reply.ts';
import { Count, HostId, InstantText, LicenseKey, ProductId, text } from './scalars.ts';
import { Session } from './session-fields.ts';

const { productId, licenseKey, hostId } = examples.device;

const SessionId = text(1, 64).meta({ description: 'Identifier of a session', examples: [examples.session.sessionId] });

/** What a session sends with each of its requests. Source: decision 0010. */
const signedFields = {
  ...licenseAddress,
  sessionId: SessionId,
  timestamp: text(1, 64).meta({
    description: 'The latest `nextNonce` that the session was given; not a time',
    examples: [examples.session.nextNonce],
  }),
  signature: text(64, 64, /^[0-9a-fA-F]{64}$/).meta({
    description: 'HMAC-SHA256 of `sessionId:timestamp` under the bytes of the text `sessionSecret`, in hexadecimal',
    examples: [examples.heartbeat.signature],
  }),
};

/** The operations on the sessions of floating keys. */
export const keySessions = {
  /** Leases one concurrent use of a floating licence. */
  checkout: endpoint({
    summary: 'Lease a session of a floating licence',
    description:
      'Takes one of the seats of a floating licence for `sessionLeaseDuration` seconds. The seat is free again when ' +
      'the lease ends.',
    method: 'POST',
    path: '/key/checkout',
    scope: 'license:activate',
    openToClients: true,
    body: z
      .object({
        ...licenseAddress,
        hostId: HostId.optional().describe('The device; required when the licence has allowed hosts'),
        deviceTag: text(1, 64).optional().describe('What people call the device'),
        userIdentifier: text(1, 256).optional().describe('Who uses it'),
      })
      .meta({ id: 'CheckoutKeyRequest' }),
    reply: bare('CheckoutKeyResponse', {
      message: z.string(),
      sessionId: z.string().describe('Identifier of the session'),
      sessionSecret: z.string().describe('The key of the HMAC that signs heartbeats; shown this once'),
      nextNonce: z.string().describe('The value that the next heartbeat signs'),
      expiresAt: InstantText,
      heartbeatInterval: Count.describe('Seconds between two reports of the session'),
      currentSessions: Count.describe('How many seats are taken, this one included'),
      maxSessions: Count.nullable().describe('How many seats there are; null means unlimited'),
      warning: Warning.optional(),
    }),
    example: { body: { productId, licenseKey, hostId }, reply: examples.session },
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

  /** Prolongs the lease of a session. */
  heartbeat: endpoint({
    summary: 'Prolong the lease of a session',
    description:
      'Starts the lease of a session anew, for `sessionLeaseDuration` seconds from now. Each heartbeat signs the nonce ' +
      'that the one before returned; the one before that is accepted once more, for a client that lost the response. ' +
      'A session whose lease has ended cannot be prolonged: check out again.',
    method: 'POST',
    path: '/key/heartbeat',
    scope: 'license:activate',
    openToClients: true,
    body: z.object(signedFields).meta({ id: 'HeartbeatKeyRequest' }),
    reply: bare('HeartbeatKeyResponse', {
      message: z.string(),
      expiresAt: InstantText.describe('When the lease ends unless it is prolonged again'),
      nextNonce: z.string().describe('The value that the next heartbeat signs'),
    }),
    example: { body: { productId, licenseKey, ...examples.heartbeat }, reply: examples.prolonged },
    errors: [
      'licenseNotFound',
      'sessionNotFound',
      'signatureRefused',
      'wrongLicenseType',
      'licenseExpired',
      'licenseDisabled',
      'customerInactive',
      'deviceNotAllowed',
    ],
    source: 'decision 0010',
  }),

  /** Ends a session: its seat is free again. */
  checkin: endpoint({
    summary: 'Give the seat of a session back',
    description: 'Ends a session before its lease does, so that its seat is free at once. Signed as a heartbeat is.',
    method: 'POST',
    path: '/key/checkin',
    scope: 'license:activate',
    openToClients: true,
    body: z.object(signedFields).meta({ id: 'CheckinKeyRequest' }),
    reply: bare('CheckinKeyResponse', { message: z.string() }),
    example: { body: { productId, licenseKey, ...examples.heartbeat }, reply: { message: 'Session checked in' } },
    errors: ['licenseNotFound', 'sessionNotFound', 'signatureRefused'],
    source: 'decision 0010',
  }),
};

/** The operations on sessions for those who administer keys. */
export const sessions = {
  /** Lists the sessions whose lease runs, oldest first. */
  list: endpoint({
    summary: 'List sessions',
    description:
      'Lists the sessions of floating licences whose lease runs, oldest first: of the account, of a product or of one ' +
      'key. Without `page` and `limit` the list is complete; with one of them it is one page, and `meta` says where ' +
      'that stands.',
    method: 'GET',
    path: '/session/list',
    scope: 'license:read',
    query: z.object({
      ...pageFields,
      productId: ProductId.optional().describe('Only sessions of keys of this product'),
      licenseKey: LicenseKey.optional().describe('Only sessions of this key'),
    }),
    reply: dataList('ListSessionsResponse', Session),
    example: {
      query: { productId, page: '1' },
      reply: { items: [examples.listedSession], meta: examples.page },
    },
    errors: [],
    source: 'decision 0010',
  }),

  /** Ends a session without its signature. */
  delete: endpoint({
    summary: 'Release a session',
    description: 'Ends a session, whoever holds it: its seat is free at once, and its next heartbeat is refused.',
    method: 'DELETE',
    path: '/session/by-id',
    scope: 'license:activate',
    query: z.object({
      sessionId: SessionId,
      productId: ProductId.optional().describe(
        'The product of its key; required for tokens that are limited to some products',
      ),
    }),
    reply: done('DeleteSessionResponse', 'sessions.delete'),
    example: { query: { sessionId: examples.session.sessionId }, reply: undefined },
    errors: ['sessionNotFound'],
    source: 'decision 0010',
  }),
};
