import { expect } from 'vitest';
import { scenarios } from '../support/scenario.ts';
import { checkOut, type SessionKeys, signedBy } from '../support/sessions.ts';
import type { Address, World } from '../support/world.ts';

interface Subject {
  /** A floating licence of two seats, whose sessions last 15 minutes. */
  readonly address: Address;
  readonly otherProductId: string;
  /** A session of host-1, leased at 10:00. */
  readonly session: SessionKeys;
  /** The value that its first heartbeat signed. */
  readonly firstNonce?: string;
}

const missing = { status: 400, code: 1, message: 'Missing required params' };
const notFound = { status: 404, code: 1, message: 'License not found' };
const ended = { status: 404, code: 3, message: 'Session not found or ended' };
const refused = { status: 403, code: 11, message: 'Session signature refused' };

const prolonged = (expiresAt: string, nextNonce: unknown = expect.stringMatching(/^[\w-]{22}$/)) => ({
  status: 200,
  body: { code: 0, message: 'Session prolonged', expiresAt, nextNonce },
});

/** Prolongs the session at an instant, after which it signs the next nonce. */
const beat =
  (at: string) =>
  async (world: World, { address, session }: Subject): Promise<Partial<Subject>> => {
    world.setNow(at);
    const { status, body } = await world.call('client', 'POST', '/key/heartbeat', { ...address, ...signedBy(session) });
    expect(status).toBe(200);
    return { session: { ...session, nextNonce: body.nextNonce }, firstNonce: session.nextNonce };
  };

/** Sends the first heartbeat twice, as a client does that has lost the response. */
const beatTwice = async (world: World, subject: Subject): Promise<Partial<Subject>> => {
  const after = await beat('2026-11-21T10:05:00.000Z')(world, subject);
  const again = await world.call('client', 'POST', '/key/heartbeat', {
    ...subject.address,
    ...signedBy(subject.session),
  });
  expect(again.body.nextNonce).toBe(after.session?.nextNonce);
  return after;
};

const signed = ({ address, session }: Subject) => ({ body: { ...address, ...signedBy(session) } });

const signedFirst = ({ address, session, firstNonce }: Subject) => ({
  body: { ...address, ...signedBy(session, firstNonce) },
});

scenarios<Subject>(
  'keys.heartbeat',
  async (world) => {
    const { id: productId } = await world.product();
    const { id: customerId } = await world.customer();
    const allowedHosts = ['host-1', 'host-2'];
    const fields = { licenseType: 'floating', maxConcurrentSessions: 2, allowedHosts };
    const address = { productId, licenseKey: await world.key({ productId, customerId, ...fields }) };
    const session = await checkOut(world, address, { hostId: 'host-1' });
    return { address, session, otherProductId: (await world.product('Viewer')).id };
  },
  [
    {
      name: 'starts the lease anew, and hands out another nonce',
      at: '2026-11-21T10:05:00.000Z',
      as: 'client',
      request: signed,
      expect: prolonged('2026-11-21T10:20:00.000Z'),
      wrote: {},
      absent: ({ session }) => [session.nextNonce, session.sessionSecret],
    },
    {
      name: 'prolongs up to the last millisecond of the lease',
      at: '2026-11-21T10:14:59.999Z',
      as: 'client',
      request: signed,
      expect: prolonged('2026-11-21T10:29:59.999Z'),
      wrote: {},
    },
    {
      name: 'takes a signature in capital letters',
      as: 'client',
      request: ({ address, session }) => {
        const { signature, ...fields } = signedBy(session);
        return { body: { ...address, ...fields, signature: signature.toUpperCase() } };
      },
      expect: prolonged('2026-11-21T10:15:00.000Z'),
      wrote: {},
    },
    {
      name: 'goes on with the nonce that the heartbeat before returned',
      given: beat('2026-11-21T10:05:00.000Z'),
      at: '2026-11-21T10:19:00.000Z',
      as: 'client',
      request: signed,
      expect: prolonged('2026-11-21T10:34:00.000Z'),
      wrote: {},
    },
    {
      name: 'tells a client that lost the response the same nonce again',
      given: beat('2026-11-21T10:05:00.000Z'),
      at: '2026-11-21T10:06:00.000Z',
      as: 'client',
      request: signedFirst,
      expect: {
        status: 200,
        body: ({ session }: Subject) => prolonged('2026-11-21T10:21:00.000Z', session.nextNonce).body,
      },
      wrote: {},
    },
    {
      name: 'goes on after a lost response',
      given: beatTwice,
      at: '2026-11-21T10:10:00.000Z',
      as: 'client',
      request: signed,
      expect: prolonged('2026-11-21T10:25:00.000Z'),
      wrote: {},
    },
    {
      name: 'refuses the previous nonce a third time, so that a request that was seen keeps no session alive',
      given: beatTwice,
      at: '2026-11-21T10:06:00.000Z',
      as: 'client',
      request: signedFirst,
      expect: refused,
    },
    {
      name: 'refuses a nonce from before the previous one',
      given: async (world, subject) => {
        const after = await beat('2026-11-21T10:05:00.000Z')(world, subject);
        const { session } = await beat('2026-11-21T10:10:00.000Z')(world, { ...subject, ...after });
        return { ...after, ...(session && { session }) };
      },
      as: 'client',
      request: signedFirst,
      expect: refused,
    },
    {
      name: 'refuses a nonce that was never handed out, though it is signed',
      as: 'client',
      request: ({ address, session }) => ({ body: { ...address, ...signedBy(session, 'made-up') } }),
      expect: refused,
    },
    {
      name: 'refuses a signature under another secret',
      as: 'client',
      request: ({ address, session }) => ({
        body: { ...address, ...signedBy({ ...session, sessionSecret: session.sessionSecret.slice(1) }) },
      }),
      expect: refused,
    },
    {
      name: 'refuses the signature of another session',
      given: async (world, { address, session }) => {
        const other = await checkOut(world, address, { hostId: 'host-2' });
        return { session: { ...other, sessionId: session.sessionId } };
      },
      as: 'client',
      request: signed,
      expect: refused,
    },
    {
      name: 'refuses a session from the instant on at which its lease ends',
      at: '2026-11-21T10:15:00.000Z',
      as: 'client',
      request: signed,
      expect: ended,
    },
    {
      name: 'refuses a session whose lease has ended and that was removed, in the same words',
      given: async (world, { address, session }) => {
        world.setNow('2026-11-21T10:15:00.000Z');
        await checkOut(world, address, { hostId: 'host-2' });
        return { session };
      },
      as: 'client',
      request: signed,
      expect: ended,
    },
    {
      name: 'refuses a session that was given back',
      given: async (world, { address, session }) => {
        const answer = await world.call('client', 'POST', '/key/checkin', { ...address, ...signedBy(session) });
        expect(answer.status).toBe(200);
      },
      as: 'client',
      request: signed,
      expect: ended,
    },
    {
      name: 'refuses the session of another key',
      given: async (world, { address: { productId } }) => {
        const licenseKey = await world.key({ productId, licenseType: 'floating' });
        return { address: { productId, licenseKey } };
      },
      as: 'client',
      request: signed,
      expect: ended,
    },
    {
      name: 'lets sessions go on that are more than there are seats now',
      given: (world) => world.sql('update licenses set max_sessions = 0'),
      as: 'client',
      request: signed,
      expect: prolonged('2026-11-21T10:15:00.000Z'),
      wrote: {},
    },
    {
      name: 'refuses a host that is no longer on the list of allowed ones',
      given: (world) => world.sql(`update licenses set allowed_hosts = '["host-2"]'`),
      as: 'client',
      request: signed,
      expect: { status: 403, code: 4, message: 'Device not allowed' },
    },
    {
      name: 'refuses a licence from the instant of its expiry on',
      given: (world) => world.sql(`update licenses set expires_at = '2026-11-21T10:05:00.000Z'`),
      at: '2026-11-21T10:05:00.000Z',
      as: 'client',
      request: signed,
      expect: { status: 403, code: 5, message: 'License expired' },
    },
    {
      name: 'refuses a licence that the vendor has disabled',
      given: (world) => world.sql('update licenses set vendor_disabled = 1'),
      as: 'client',
      request: signed,
      expect: { status: 403, code: 6, message: 'License disabled' },
    },
    {
      name: 'refuses the licence of a customer that is not active',
      given: (world) => world.sql('update customers set active = 0'),
      as: 'client',
      request: signed,
      expect: { status: 403, code: 7, message: 'Customer inactive' },
    },
    {
      name: 'refuses a licence that is no longer floating',
      given: (world) => world.sql(`update licenses set license_type = 'node-locked'`),
      as: 'client',
      request: signed,
      expect: { status: 403, code: 8, message: 'Operation not available for this license type' },
    },
    {
      name: 'refuses a signature that is not hexadecimal',
      as: 'client',
      request: ({ address, session }) => ({ body: { ...address, ...signedBy(session), signature: 'g'.repeat(64) } }),
      expect: missing,
    },
    {
      name: 'refuses a key that is not there',
      as: 'client',
      request: ({ address, session }) => ({
        body: { ...address, licenseKey: '00000-00000-00000-00000-00000', ...signedBy(session) },
      }),
      expect: notFound,
    },
    {
      name: 'refuses a product that the token may not touch as one that is not there',
      as: ({ otherProductId }) => ({ kind: 'client', productIds: [otherProductId] }),
      request: signed,
      expect: notFound,
    },
  ],
);
