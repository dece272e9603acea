import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
import { checkOut, type SessionKeys, signedBy } from '../support/sessions.ts';
import type { Address } from '../support/world.ts';

interface Subject {
  /** A floating licence of one seat, whose sessions last 15 minutes. */
  readonly address: Address;
  readonly otherProductId: string;
  /** The session that has the seat, leased at 10:00. */
  readonly session: SessionKeys;
}

const notFound = { status: 404, code: 1, message: 'License not found' };
const ended = { status: 404, code: 3, message: 'Session not found or ended' };
const refused = { status: 403, code: 11, message: 'Session signature refused' };
const done = { status: 200, body: { code: 0, message: 'Session checked in' } };

const signed = ({ address, session }: Subject) => ({ body: { ...address, ...signedBy(session) } });

scenarios<Subject>(
  'keys.checkin',
  async (world) => {
    const { id: productId } = await world.product();
    const fields = { licenseType: 'floating', maxConcurrentSessions: 1 };
    const address = { productId, licenseKey: await world.key({ productId, ...fields }) };
    const session = await checkOut(world, address);
    return { address, session, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'frees the seat at once',
      as: 'client',
      request: signed,
      expect: done,
      wrote: { sessions: -1 },
      afterwards: async (world, { address }) => {
        await checkOut(world, address);
      },
    },
    {
      name: 'takes the nonce of a heartbeat whose response was lost',
      given: async (world, subject) => {
        expect((await world.call('client', 'POST', '/key/heartbeat', signed(subject).body)).status).toBe(200);
      },
      as: 'client',
      request: signed,
      expect: done,
      wrote: { sessions: -1 },
    },
    {
      name: 'frees the seat of a licence that may not be used any more',
      given: (world) => world.sql(`update licenses set vendor_disabled = 1, expires_at = '2026-11-21T10:00:00.000Z'`),
      as: 'client',
      request: signed,
      expect: done,
      wrote: { sessions: -1 },
    },
    {
      name: 'refuses a session that was given back',
      given: async (world, subject) => {
        expect((await world.call('client', 'POST', '/key/checkin', signed(subject).body)).status).toBe(200);
      },
      as: 'client',
      request: signed,
      expect: ended,
    },
    {
      name: 'refuses a session whose lease has ended',
      at: '2026-11-21T10:15:00.000Z',
      as: 'client',
      request: signed,
      expect: ended,
    },
    {
      name: 'refuses a signature under another secret',
      as: 'client',
      request: ({ address, session }) => ({
        body: { ...address, ...signedBy({ ...session, sessionSecret: 'guessed' }) },
      }),
      expect: refused,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'client', productIds: [otherProductId] }),
      request: signed,
      expect: notFound,
    },
  ],
);
