import { expect } from 'vitest';
import { row, scenarios } from '../support/scenario.ts';
import {
  another,
  leaves,
  type Shop,
  shopWith,
  shownDevice,
  signedFor,
  unknownKeys,
  unusable,
} from '../support/shop.ts';

const activated = (hostId: string, activations: number, device: object = {}, maxActivations: number | null = 2) => ({
  body: {
    code: 0,
    message: 'Device activated',
    device: shownDevice({ hostId, ...device }),
    activations,
    maxActivations,
  },
});

const LATER = '2026-11-21T11:00:00.000Z';
const masked = { ipAddress: '203.0.*.*' };

scenarios<Shop>(
  'keys.activate',
  {
    // Of its two slots host-1 holds one.
    given: async (world) => {
      const shop = await shopWith({ usesPerKey: '2' })(world);
      const body = { ...shop.address, hostId: 'host-1', deviceTag: 'desk' };
      expect((await world.call('admin', 'POST', '/key/activate', body)).status).toBe(200);
      return shop;
    },
    body: ({ address }) => ({ ...address, hostId: 'host-1' }),
    wrote: { devices: 1 },
  },
  [
    row('takes a slot for a new host', activated('host-2', 2, { deviceTag: 'lab', activationTime: LATER }), {
      send: { hostId: 'host-2', deviceTag: 'lab' },
      at: LATER,
      afterwards: leaves('host-1', 'host-2'),
    }),
    row(
      'shows a token of kind client the device that it names, with its address masked',
      activated('host-2', 2, masked),
      {
        send: { hostId: 'host-2' },
        as: 'client',
        absent: ['203.0.113', 'host-1'],
      },
    ),
    row(
      'answers alike for a host that holds a slot, and changes nothing',
      activated('host-1', 1, { deviceTag: 'desk' }),
      {
        send: { deviceTag: 'another' },
        at: LATER,
        wrote: 'nothing',
        afterwards: leaves('host-1'),
      },
    ),
    row('refuses a third host when both slots are taken', 'activationLimit', {
      send: { hostId: 'host-3' },
      given: signedFor('host-2'),
      as: 'client',
      afterwards: leaves('host-1', 'host-2'),
    }),
    row('refuses a host that is not on the list of allowed ones', 'deviceNotAllowed', {
      given: another({ allowedHosts: ['host-8'] }),
    }),
    ...unusable,
    ...unknownKeys(),
  ],
);
