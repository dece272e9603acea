import { expect } from 'vitest';
import { row, scenarios } from '../support/scenario.ts';
import { another, leaves, type Shop, shopWith, shownDevice, unknownKeys, unusable } from '../support/shop.ts';
import { promisedHosts } from '../support/slots.ts';
import type { Address, As, World } from '../support/world.ts';

interface Rebinding extends Shop {
  /** The id of its first device. */
  readonly deviceId?: string | undefined;
}

const rebound = (device: object = {}, more: object = {}) => ({
  body: {
    code: 0,
    message: 'Device rebound',
    device: shownDevice({ hostId: 'host-9', deviceTag: 'desk', ...device }),
    ...more,
  },
});

/** A licence file that goes on verifying for an hour. */
const fileOf = (hostId: string) => ({ id: expect.stringMatching(/^fil_/), hostId, endsAt: '2026-11-21T11:00:00.000Z' });

const masked = { ipAddress: '203.0.*.*' };

/** Activates host-1 as "desk", and the others. */
const activate = async (world: World, address: Address, ...hostIds: readonly string[]): Promise<void> => {
  for (const [hostId, deviceTag] of [['host-1', 'desk'], ...hostIds.map((hostId) => [hostId])]) {
    expect((await world.call('admin', 'POST', '/key/activate', { ...address, hostId, deviceTag })).status).toBe(200);
  }
};

/** A key of the same product on host-1, with other fields. */
const onHost1 = (fields: object) => async (world: World, subject: Shop) => {
  const { address } = await another({ ...fields })(world, subject);
  await activate(world, address);
  return { address };
};

/** An application gives its slot back. */
const leave = async (world: World, address: Address, hostId: string): Promise<void> => {
  expect((await world.call('client', 'POST', '/deactivate-key', { ...address, hostId })).status).toBe(200);
};

/** Moves the slot of host-1 to and fro. */
const rebindOften =
  (as: As, ...hostIds: readonly string[]) =>
  async (world: World, { address }: Shop): Promise<void> => {
    for (const [i, newHostId] of hostIds.entries()) {
      const move = { ...address, hostId: hostIds[i - 1] ?? 'host-1', newHostId };
      expect((await world.call(as, 'POST', '/key/rebind', move)).status).toBe(200);
    }
  };

const thrice = (as: As) => rebindOften(as, 'host-3', 'host-4', 'host-1');

scenarios<Rebinding>(
  'keys.rebind',
  {
    // Both of its slots are held.
    given: async (world) => {
      const shop = await shopWith({ usesPerKey: '2', customerCanSelfReset: true })(world);
      await activate(world, shop.address, 'host-2');
      return shop;
    },
    body: ({ address }) => ({ ...address, hostId: 'host-1', newHostId: 'host-9' }),
    wrote: {},
  },
  [
    row<Rebinding>(
      'gives the slot of one host to another, when all are taken, with the id of the device and a new tag',
      {
        body: ({ deviceId }: Rebinding) =>
          rebound({ id: deviceId, activationTime: '2026-11-21T11:00:00.000Z', deviceTag: 'lab' }).body,
      },
      {
        send: { deviceTag: 'lab' },
        given: async (world, { address }) => ({ deviceId: (await world.license(address)).devices[0]?.id }),
        at: '2026-11-21T11:00:00.000Z',
        afterwards: leaves('host-2', 'host-9'),
      },
    ),
    row('lets a token of kind client rebind where the customer may, with the address masked', rebound(masked), {
      as: 'client',
      absent: ['host-2'],
      afterwards: leaves('host-2', 'host-9'),
    }),
    row(
      'revokes the files of the old host, and says which of them still verify',
      rebound({}, { files: [fileOf('host-1')] }),
      {
        given: (world, { address }) => world.activate(address, 'host-1', 'host-2'),
        wrote: { revocation_lists: 1 },
        afterwards: async (world) => {
          const { license_files: files } = await world.contents();
          const revoked = files?.filter(({ revoked_at }) => revoked_at !== null).map(({ host_id }) => host_id);
          expect(revoked).toEqual(['host-1']);
        },
      },
    ),
    row(
      'leaves the old host no way back by its fingerprint, nor the key that it has told',
      rebound({ deviceTag: 'No tag' }),
      {
        given: async (world, subject) => {
          const { address } = await another({ usesPerKey: '1', fingerprintMatch: 1 })(world, subject);
          const told = { hostId: 'host-1', fingerprint: { disk: 'a'.repeat(64) }, publicKey: 'A'.repeat(43) };
          expect((await world.call('client', 'POST', '/key/sign', { ...address, ...told })).status).toBe(200);
          await world.sql('delete from license_files');
          return { address };
        },
        afterwards: async (world, subject, answer) => {
          const back = { ...subject.address, hostId: 'host-1', fingerprint: { disk: 'a'.repeat(64) } };
          expect((await world.call('client', 'POST', '/key/activate', back)).body.code).toBe(3);
          await leaves('host-9')(world, subject, answer);
          const device = (await world.contents()).devices?.find(({ host_id }) => host_id === 'host-9');
          expect(device).toMatchObject({ fingerprint: null, public_key: null });
        },
      },
    ),
    row('refuses a token of kind client a fourth time in a year', 'rebindLimit', {
      given: thrice('client'),
      at: '2026-12-20T23:59:59.999Z',
      as: 'client',
      afterwards: leaves('host-1', 'host-2'),
    }),
    row('lets the vendor rebind beyond the limit', rebound(masked), {
      given: thrice('client'),
      as: { scopes: ['license:activate'] },
      wrote: {},
      afterwards: leaves('host-2', 'host-9'),
    }),
    row(
      'counts anew with the first instant of the year, UTC',
      rebound({ ...masked, activationTime: '2027-01-01T00:00:00.000Z', lastSeenOn: '2027-01-01' }),
      {
        given: async (world, subject) => {
          const kept = await onHost1({ usesPerKey: '1', expiryDate: null })(world, subject);
          await thrice('client')(world, { ...subject, ...kept });
          return kept;
        },
        at: '2027-01-01T00:00:00.000Z',
        as: 'client',
      },
    ),
    row('refuses a token of kind client where the customer may not', 'selfResetOff', {
      given: onHost1({ usesPerKey: '1', customerCanSelfReset: false }),
      as: 'client',
      afterwards: leaves('host-1'),
    }),
    row('counts no move of a licence without a limit', rebound(masked), {
      given: async (world, subject) => {
        const free = await onHost1({ customerCanSelfReset: false })(world, subject);
        await thrice('client')(world, { ...subject, ...free });
        return free;
      },
      as: 'client',
    }),
    ...(['client', 'admin'] as const).map((as) =>
      row<Rebinding>(
        `lets a host come back to the slot that is promised to it, at no cost: a token of kind ${as}`,
        { body: expect.objectContaining({ code: 0 }) },
        {
          given: async (world, { address }) => {
            await leave(world, address, 'host-2');
            await world.sql('update licenses set customer_can_self_reset = 0');
          },
          send: { newHostId: 'host-2' },
          as,
          wrote: as === 'client' ? {} : { slot_promises: -1 },
          afterwards: async (world, subject, answer) => {
            await leaves('host-2')(world, subject, answer);
            const contents = await world.contents();
            expect(contents.licenses?.map(({ moves }) => moves)).toEqual([0]);
            // Host-1 has left as if it had been freed by the same token.
            expect(promisedHosts(contents)).toEqual(as === 'client' ? ['host-1'] : []);
          },
        },
      ),
    ),
    row('refuses a host that holds no slot', 'deviceNotFound', { send: { hostId: 'host-8' } }),
    row('refuses a new host that holds a slot already', 'hostActivated', {
      send: { newHostId: 'host-2' },
      afterwards: leaves('host-1', 'host-2'),
    }),
    row('refuses a new host that is not on the list of allowed ones', 'deviceNotAllowed', {
      given: onHost1({ allowedHosts: ['host-1', 'host-2'] }),
    }),
    ...unusable,
    ...unknownKeys(),
  ],
);

/** What is freed, with the licence files of the hosts. */
const freed = (message: string, ...hostIds: readonly string[]) => ({
  body: { message, files: expect.arrayContaining(hostIds.map(fileOf)), code: 0 },
});

const all = { hostId: undefined };

scenarios<Shop>(
  'keys.deactivate',
  {
    // Both of its slots are held.
    given: shopWith({ usesPerKey: '2', customerCanSelfReset: true }, 'host-1', 'host-2'),
    body: ({ address }) => ({ ...address, hostId: 'host-1' }),
    wrote: { devices: -1, revocation_lists: 1 },
  },
  [
    row('frees all slots without a hostId', freed('All devices deactivated', 'host-1', 'host-2'), {
      send: all,
      as: { scopes: ['license:activate'] },
      wrote: { devices: -2, revocation_lists: 1 },
      afterwards: leaves(),
    }),
    row('is open to a token of kind client, and promises the slot to its host', freed('Device deactivated', 'host-1'), {
      as: 'client',
      wrote: { devices: -1, revocation_lists: 1, slot_promises: 1 },
      afterwards: async (world, subject, answer) => {
        await leaves('host-2')(world, subject, answer);
        expect(promisedHosts(await world.contents())).toEqual(['host-1']);
      },
    }),
    row('frees a device for it where the customer may not move slots', freed('Device deactivated', 'host-1'), {
      given: (world) => world.sql('update licenses set customer_can_self_reset = 0'),
      as: 'client',
      wrote: { devices: -1, revocation_lists: 1, slot_promises: 1 },
      afterwards: leaves('host-2'),
    }),
    row('frees a device for it after all moves of the year', freed('Device deactivated', 'host-1'), {
      given: (world) => world.sql('update licenses set slot_year = 2026, moves = 3'),
      as: 'client',
      wrote: { devices: -1, revocation_lists: 1, slot_promises: 1 },
    }),
    row('promises no slot of a licence without a limit', freed('Device deactivated', 'host-1'), {
      given: (world) => world.sql('update licenses set max_activations = null'),
      as: 'client',
    }),
    row('promises no slot where more devices are left than there are slots', freed('Device deactivated', 'host-1'), {
      given: (world) => world.sql('update licenses set max_activations = 1'),
      as: 'client',
    }),
    row('promises no slot to a host that may not come back', freed('Device deactivated', 'host-1'), {
      given: (world) => world.sql(`update licenses set allowed_hosts = '["host-2"]'`),
      as: 'client',
    }),
    row('promises no slot that the vendor frees', freed('Device deactivated', 'host-1'), {
      as: { scopes: ['license:activate'] },
    }),
    row('ends the promises of a key that the vendor frees whole', freed('All devices deactivated', 'host-1'), {
      send: all,
      given: (world, { address }) => leave(world, address, 'host-2'),
      wrote: { devices: -1, slot_promises: -1 },
    }),
    row('replaces a promise of an earlier year', freed('Device deactivated', 'host-1'), {
      given: (world) =>
        world.sql(`insert into slot_promises (account_id, license_id, host_id, calendar_year, promised_at)
          select account_id, id, host, 2025, '2025-03-01T00:00:00.000Z'
          from licenses, (select 'host-1' as host union select 'host-9') as hosts`),
      as: 'client',
      wrote: { devices: -1, revocation_lists: 1, slot_promises: -1 },
      afterwards: async (world) => expect(promisedHosts(await world.contents())).toEqual(['host-1']),
    }),
    row('refuses to free every device for a token of kind client, which has to name its own', 'invalidParams', {
      send: all,
      as: 'client',
      afterwards: leaves('host-1', 'host-2'),
    }),
    row('gives it no response that another token got for freeing every device', 'invalidParams', {
      send: all,
      given: async (world, subject) => {
        const keyed = { 'Idempotency-Key': 'all' };
        expect((await world.call('admin', 'POST', '/deactivate-key', subject.address, keyed)).status).toBe(200);
        await world.activate(subject.address, 'host-3');
      },
      as: 'client',
      headers: { 'Idempotency-Key': 'all' },
      afterwards: leaves('host-3'),
    }),
    row('refuses a hostId that is null, rather than freeing every device', 'invalidParams', { send: { hostId: null } }),
    row('refuses a key without devices, before it looks for the host', 'notActivated', { given: another({}) }),
    row('refuses a host that is no device of the key, or that is written in another case', 'deviceNotFound', {
      send: { hostId: 'HOST-1' },
    }),
    ...unknownKeys('deviceNotFound'),
  ],
);
