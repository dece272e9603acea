import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { examples } from './examples.ts';
import { licenseAddress } from './licenses.ts';
import { bare } from './reply.ts';
import { Count, HostId, InstantText, text } from './scalars.ts';

const { productId, licenseKey, hostId } = examples.device;

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
};
