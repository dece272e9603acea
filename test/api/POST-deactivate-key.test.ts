import { expect } from 'vitest';
import { refuses, row, scenarios } from '../support/scenario.ts';
import { another, leaves, type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import type { Address, World } from '../support/world.ts';

/** What is freed, with the licence files of the hosts, which go on verifying for an hour. */
const freed = (message: string, ...hostIds: readonly string[]) => ({
  body: {
    message,
    files: expect.arrayContaining(
      hostIds.map((hostId) => ({ id: expect.stringMatching(/^fil_/), hostId, endsAt: '2026-11-21T11:00:00.000Z' })),
    ),
    code: 0,
  },
});

const oneFreed = (hostId: string) => freed('Device deactivated', hostId);
const allFreed = (...hostIds: readonly string[]) => freed('All devices deactivated', ...hostIds);

const all = { hostId: undefined };

const free = async (world: World, { address }: { readonly address: Address }, hostId?: string, key?: string) => {
  const headers = key === undefined ? {} : { 'Idempotency-Key': key };
  expect((await world.call('admin', 'POST', '/deactivate-key', { ...address, hostId }, headers)).status).toBe(200);
};

scenarios<Shop>(
  'keys.deactivate',
  {
    // Both of its slots are held.
    given: shopWith({ usesPerKey: '2', customerCanSelfReset: true }, 'host-1', 'host-2'),
    body: ({ address }) => ({ ...address, hostId: 'host-1' }),
    wrote: { devices: -1, revocation_lists: 1 },
  },
  [
    row('frees the slot of one device', oneFreed('host-1'), { afterwards: leaves('host-2') }),
    row(
      'frees the slots of all devices without a hostId, for a token that is not shipped',
      allFreed('host-1', 'host-2'),
      {
        send: all,
        as: { scopes: ['license:activate'] },
        wrote: { devices: -2, revocation_lists: 1 },
        afterwards: leaves(),
      },
    ),
    row('is open to a token of kind client, and counts as a rebinding', oneFreed('host-1'), {
      as: 'client',
      wrote: { devices: -1, revocation_lists: 1, rebindings: 1 },
      afterwards: leaves('host-2'),
    }),
    row(
      'frees no device for a token of kind client where the customer may not, which would move the slot',
      'selfResetOff',
      {
        given: async (world, { address }) => {
          await world.call('admin', 'PATCH', '/key', { ...address, customerCanSelfReset: false });
        },
        as: 'client',
        afterwards: leaves('host-1', 'host-2'),
      },
    ),
    row('frees no fourth device in a year for a token of kind client, nor after rebindings', 'rebindLimit', {
      send: { hostId: 'host-2' },
      given: async (world, { address }) => {
        const move = async (path: string, body: object, status = 200) =>
          expect((await world.call('client', 'POST', path, { ...address, ...body })).status).toBe(status);
        await move('/deactivate-key', { hostId: 'host-1' });
        await move('/key/activate', { hostId: 'host-3' });
        await move('/key/rebind', { hostId: 'host-3', newHostId: 'host-4' });
        await move('/deactivate-key', { hostId: 'host-4' });
        await move('/key/rebind', { hostId: 'host-2', newHostId: 'host-5' }, 403);
      },
      as: 'client',
      afterwards: leaves('host-2'),
    }),
    row('refuses to free every device for a token of kind client, which has to name its own', 'invalidParams', {
      send: all,
      as: 'client',
      afterwards: leaves('host-1', 'host-2'),
    }),
    row('gives it no response that another token got for freeing every device', 'invalidParams', {
      send: all,
      given: async (world, subject) => {
        await free(world, subject, undefined, 'all');
        await world.activate(subject.address, 'host-3');
      },
      as: 'client',
      headers: { 'Idempotency-Key': 'all' },
      afterwards: leaves('host-3'),
    }),
    ...refuses('invalidParams', {
      'a hostId that is null, rather than freeing every device': { hostId: null },
    }),
    row('refuses a key without devices, before it looks for the host', 'notActivated', { given: another({}) }),
    row('refuses a host that is no device of the key, or that is written in another case', 'deviceNotFound', {
      send: { hostId: 'HOST-1' },
    }),
    ...unknownKeys('deviceNotFound'),
  ],
);
