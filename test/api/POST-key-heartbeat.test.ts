import { expect } from 'vitest';
import { answers, row, scenarios } from '../support/scenario.ts';
import { checkOut, type SessionKeys, signedBy } from '../support/sessions.ts';
import { another, blocked, ofInactiveCustomer, type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import type { World } from '../support/world.ts';

interface Subject extends Shop {
  /** A session of host-1, leased at 10:00 for 15 minutes. */
  readonly session: SessionKeys;
  /** The value that its first heartbeat signed. */
  readonly firstNonce?: string;
}

const minute = (at: number) => `2026-11-21T10:${String(at).padStart(2, '0')}:00.000Z`;

const prolonged = (expiresAt: string, nextNonce: unknown = expect.stringMatching(/^[\w-]{22}$/)) => ({
  body: { code: 0, message: 'Session prolonged', expiresAt, nextNonce },
});

const send = async (world: World, { address, session }: Subject, path: string) => {
  const { status, body } = await world.call('client', 'POST', path, { ...address, ...signedBy(session) });
  expect(status).toBe(200);
  return body;
};

/** Prolongs the session at an instant, after which it signs the next nonce. */
const beat =
  (at: string) =>
  async (world: World, subject: Subject): Promise<Pick<Subject, 'session' | 'firstNonce'>> => {
    world.setNow(at);
    const { nextNonce } = await send(world, subject, '/key/heartbeat');
    return { session: { ...subject.session, nextNonce }, firstNonce: subject.session.nextNonce };
  };

/** Sends the first heartbeat twice, as a client does that has lost the response. */
const beatTwice = async (world: World, subject: Subject) => {
  const after = await beat(minute(5))(world, subject);
  expect((await send(world, subject, '/key/heartbeat')).nextNonce).toBe(after.session.nextNonce);
  return after;
};

const signedFirst = ({ session, firstNonce }: Subject) => signedBy(session, firstNonce);

scenarios<Subject>(
  'keys.heartbeat',
  {
    given: async (world) => {
      const allowedHosts = ['host-1', 'host-2'];
      const shop = await shopWith({ licenseType: 'floating', maxConcurrentSessions: 2, allowedHosts })(world);
      return { ...shop, session: await checkOut(world, shop.address, { hostId: 'host-1' }) };
    },
    as: 'client',
    body: ({ address, session }) => ({ ...address, ...signedBy(session) }),
    wrote: {},
  },
  [
    row('starts the lease anew, and hands out another nonce', prolonged(minute(20)), {
      at: minute(5),
      absent: ({ session }) => [session.nextNonce, session.sessionSecret],
    }),
    row(
      'tells a client that lost the response the same nonce again',
      answers(({ session }: Subject) => prolonged(minute(21), session.nextNonce).body),
      { send: signedFirst, given: beat(minute(5)), at: minute(6) },
    ),
    row(
      'refuses the previous nonce a third time, so that a request that was seen keeps no session alive',
      'signatureRefused',
      {
        send: signedFirst,
        given: beatTwice,
        at: minute(6),
      },
    ),
    row('refuses a signature under another secret', 'signatureRefused', {
      send: ({ session }) => signedBy({ ...session, sessionSecret: session.sessionSecret.slice(1) }),
    }),
    row('refuses the session of another key', 'sessionNotFound', { given: another({ licenseType: 'floating' }) }),
    row('lets sessions go on that are more than there are seats now', prolonged(minute(15)), {
      given: (world) => world.sql('update licenses set max_sessions = 0'),
    }),
    row('refuses a host that is no longer on the list of allowed ones', 'deviceNotAllowed', {
      given: (world) => world.sql(`update licenses set allowed_hosts = '["host-2"]'`),
    }),
    row('refuses a licence from the instant of its expiry on', 'licenseExpired', {
      given: (world) => world.sql(`update licenses set expires_at = '${minute(5)}'`),
      at: minute(5),
    }),
    row('refuses a licence that the vendor has disabled', 'licenseDisabled', { given: blocked }),
    row('refuses the licence of a customer that is not active', 'customerInactive', { given: ofInactiveCustomer }),
    row('refuses a licence that is no longer floating', 'wrongLicenseType', {
      given: (world) => world.sql(`update licenses set license_type = 'node-locked'`),
    }),
    ...unknownKeys(),
  ],
);
