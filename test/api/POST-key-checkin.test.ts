import { expect } from 'vitest';
import { row, scenarios } from '../support/scenario.ts';
import { checkOut, type SessionKeys, signedBy } from '../support/sessions.ts';
import { type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import type { World } from '../support/world.ts';

interface Subject extends Shop {
  /** The session that has the one seat, leased at 10:00 for 15 minutes. */
  readonly session: SessionKeys;
}

const done = { body: { code: 0, message: 'Session checked in' } };

const sent =
  (path: string) =>
  async (world: World, { address, session }: Subject): Promise<void> =>
    expect((await world.call('client', 'POST', path, { ...address, ...signedBy(session) })).status).toBe(200);

scenarios<Subject>(
  'keys.checkin',
  {
    given: async (world) => {
      const shop = await shopWith({ licenseType: 'floating', maxConcurrentSessions: 1 })(world);
      return { ...shop, session: await checkOut(world, shop.address) };
    },
    as: 'client',
    body: ({ address, session }) => ({ ...address, ...signedBy(session) }),
    wrote: { sessions: -1 },
  },
  [
    row('frees the seat at once', done, {
      afterwards: async (world, { address }) => void (await checkOut(world, address)),
    }),
    row('takes the nonce of a heartbeat whose response was lost', done, { given: sent('/key/heartbeat') }),
    row('frees the seat of a licence that may not be used any more', done, {
      given: (world) => world.sql(`update licenses set vendor_disabled = 1, expires_at = '2026-11-21T10:00:00.000Z'`),
    }),
    row('refuses a session whose lease has ended', 'sessionNotFound', { at: '2026-11-21T10:15:00.000Z' }),
    row('refuses a signature under another secret', 'signatureRefused', {
      send: ({ session }) => signedBy({ ...session, sessionSecret: 'guessed' }),
    }),
    ...unknownKeys(),
  ],
);
