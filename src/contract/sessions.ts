import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { pageFields, request } from './fields.ts';
import { licenseAddress, listedNames, Session, useErrors, Warning } from './keys/licenses.ts';
import { bare, done, listReply } from './reply.ts';
import {
  Count,
  CustomerId,
  EndText,
  HostId,
  LicenseId,
  LicenseKey,
  ProductId,
  ShownKey,
  shown,
  shownId,
  text,
} from './scalars.ts';

const SessionId = text(1, 64).meta({
  description: 'Identifier of a session',
  examples: ['ses_01jd7q7h4r8bm2k6v0x9w5t3cz'],
});

const nonce = 'b7R0cT5kL3nP6sD8aJ1eG4';

const nextNonce = shown('The value that the next heartbeat signs', nonce);

/** The fields of each request of a session. Source: decision 0010. */
const signedFields = {
  ...licenseAddress,
  sessionId: SessionId,
  timestamp: text(1, 64).meta({
    description: 'The latest `nextNonce` that the session was given; not a time',
    examples: [nonce],
  }),
  signature: text(64, 64, /^[0-9a-fA-F]{64}$/).meta({
    description: 'HMAC-SHA256 of `sessionId:timestamp` under the bytes of the text `sessionSecret`, in hexadecimal',
    examples: ['471bd6d3f60289af60d4c0a7ab16536678d48c980d17b72edf26fe62f880173e'],
  }),
};

export const keySessions = {
  /** Leases one concurrent use of a floating licence. Source: API description, POST /key/checkout; decision 0010. */
  checkout: endpoint('POST /key/checkout', 'license:activate', {
    summary: 'Lease a session of a floating licence',
    description:
      'Takes a seat of a floating licence for `sessionLeaseDuration` seconds; it is free again when the lease ends.',
    openToClients: true,
    body: request('CheckoutKeyRequest', {
      ...licenseAddress,
      hostId: HostId.optional().describe('The device; required when the licence has allowed hosts'),
      deviceTag: text(1, 64).optional().describe('What people call the device'),
      userIdentifier: text(1, 256).optional().describe('Who uses it'),
    }),
    reply: bare('CheckoutKeyResponse', {
      message: shown('For people', 'Session checked out'),
      sessionId: shown('Identifier of the session', 'ses_01jd7q7h4r8bm2k6v0x9w5t3cz'),
      sessionSecret: shown(
        'The key of the HMAC that signs heartbeats; shown this once',
        '9vZ4f1uQ8mYwX2b7R0cT5kL3nP6sD8aJ1eG4hV7iW9o',
      ),
      nextNonce,
      expiresAt: EndText,
      heartbeatInterval: Count.meta({ description: 'Seconds between two reports of the session', examples: [300] }),
      currentSessions: Count.describe('How many seats are taken, this one included'),
      maxSessions: Count.nullable().describe('How many seats there are; null means unlimited'),
      warning: Warning.optional(),
    }),
    example: { hostId: 'host-1' },
    errors: [...useErrors, 'wrongLicenseType', 'sessionLimit'],
  }),

  /** Prolongs the lease of a session. Source: decision 0010. */
  heartbeat: endpoint('POST /key/heartbeat', 'license:activate', {
    summary: 'Prolong the lease of a session',
    description:
      'Starts the lease of a session anew, for `sessionLeaseDuration` seconds from now, unless it has ended. Each ' +
      'heartbeat signs the nonce that the one before returned; the nonce before that is accepted once more, for a client ' +
      'that lost the response.',
    openToClients: true,
    body: request('HeartbeatKeyRequest', signedFields),
    reply: bare('HeartbeatKeyResponse', {
      message: shown('For people', 'Session prolonged'),
      expiresAt: EndText.describe('When the lease ends unless it is prolonged again'),
      nextNonce,
    }),
    errors: [...useErrors, 'sessionNotFound', 'signatureRefused', 'wrongLicenseType'],
  }),

  /** Ends a session: its seat is free again. Source: decision 0010. */
  checkin: endpoint('POST /key/checkin', 'license:activate', {
    summary: 'Give the seat of a session back',
    description: 'Ends a session before its lease does, so that its seat is free at once. Signed as a heartbeat is.',
    openToClients: true,
    body: request('CheckinKeyRequest', signedFields),
    reply: bare('CheckinKeyResponse', { message: shown('For people', 'Session checked in') }),
    errors: ['licenseNotFound', 'sessionNotFound', 'signatureRefused'],
  }),
};

/** A session in a list, with the key whose seat it has. */
const ListedSession = Session.extend({
  licenseId: LicenseId,
  licenseKey: ShownKey,
  productId: shownId(ProductId),
  customerId: shownId(CustomerId).nullable().describe('The customer of the key; null when it has none'),
  ...listedNames,
}).meta({ id: 'ListedSession', description: 'A session, with the key whose seat it has' });

export const sessions = {
  /** Lists the sessions whose lease runs, oldest first. Source: decision 0010. */
  list: endpoint('GET /session/list', 'license:read', {
    summary: 'List sessions',
    description: 'Lists the sessions of floating licences whose lease runs, oldest first: all of them, or one page.',
    query: z.object({
      ...pageFields,
      productId: ProductId.optional().describe('Only sessions of keys of this product'),
      licenseKey: LicenseKey.optional().describe('Only sessions of this key'),
    }),
    readsMany: true,
    reply: listReply('ListSessionsResponse', null, ListedSession),
    example: { page: '1' },
  }),

  /** Ends a session without its signature. Source: decision 0010. */
  delete: endpoint('DELETE /session/by-id', 'license:activate', {
    summary: 'Release a session',
    description: 'Ends a session, whoever holds it: its seat is free at once, and its next heartbeat is refused.',
    query: z.object({
      sessionId: SessionId,
      productId: ProductId.optional().describe('The product of its key; required of a token limited to some products'),
    }),
    reply: done('DeleteSessionResponse', 'sessions.delete'),
    errors: ['sessionNotFound'],
  }),
};
