import { expect } from 'vitest';
import { row, scenarios } from '../support/scenario.ts';
import { checkOut } from '../support/sessions.ts';
import { another, type Shop, shopWith, unknownKeys, unusable } from '../support/shop.ts';
import type { World } from '../support/world.ts';

const leased = (currentSessions: number, fields: object = {}) => ({
  body: {
    code: 0,
    message: 'Session checked out',
    sessionId: expect.stringMatching(/^ses_[0-9a-z]{26}$/),
    sessionSecret: expect.stringMatching(/^[\w-]{43}$/),
    nextNonce: expect.stringMatching(/^[\w-]{22}$/),
    expiresAt: '2026-11-21T10:15:00.000Z',
    heartbeatInterval: 300,
    currentSessions,
    maxSessions: 2,
    ...fields,
  },
});

/** A floating key of the same product, with other fields. */
const floating = (fields: object) => another({ licenseType: 'floating', ...fields });

const bothTaken = async (world: World, { address }: Shop): Promise<void> => {
  await checkOut(world, address);
  await checkOut(world, address);
};

scenarios<Shop>(
  'keys.checkout',
  {
    given: shopWith({ licenseType: 'floating', maxConcurrentSessions: 2, usesPerKey: '1' }),
    as: 'client',
    body: ({ address }) => address,
    wrote: { sessions: 1 },
  },
  [
    row('leases a seat for a named host and user, and takes no activation slot', leased(1), {
      send: { hostId: 'host-1', deviceTag: 'build agent', userIdentifier: 'zoe@example.com' },
      afterwards: async (world, { address }) => {
        expect(await world.license(address)).toMatchObject({ activations: 0, activated: false, devices: [] });
      },
    }),
    row(
      'leases a seat again from the instant its lease has run out',
      leased(1, { expiresAt: '2026-11-21T10:30:00.000Z' }),
      {
        given: bothTaken,
        at: '2026-11-21T10:15:00.000Z',
        wrote: { sessions: -1 },
      },
    ),
    row('refuses when all seats are taken, up to the last millisecond of the leases', 'sessionLimit', {
      given: bothTaken,
      at: '2026-11-21T10:14:59.999Z',
    }),
    row('refuses a host that is not on the list of allowed ones', 'deviceNotAllowed', {
      send: { hostId: 'host-9' },
      given: floating({ allowedHosts: ['host-1'] }),
    }),
    row('refuses a node-locked licence', 'wrongLicenseType', { given: another({}) }),
    ...unusable,
    ...unknownKeys(),
  ],
);
