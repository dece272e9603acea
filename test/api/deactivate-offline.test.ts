import { expect } from 'vitest';
import { signJws } from '../../src/domain/license-file/jws.ts';
import { createSigner } from '../../src/domain/license-file/sign.ts';
import { createDeactivationProof, createDeviceKey, readDeviceKey } from '../../src/license-file.ts';
import { recordedOf } from '../support/recorded.ts';
import { row, scenarios } from '../support/scenario.ts';
import { leaves, type Shop, shopWith, unknownKeys } from '../support/shop.ts';
import type { World } from '../support/world.ts';

interface Offline extends Shop {
  readonly file: string;
  readonly privateKey: string;
  readonly proof: string;
}

const sign = async (world: World, address: Shop['address'], publicKey: string, hostId = 'host-1'): Promise<string> =>
  (await world.call('admin', 'POST', '/key/sign', { ...address, hostId, publicKey })).body.file;

/** Host-1 has signed that it was deactivated; host-2 is there as well. */
async function deactivated(world: World): Promise<Offline> {
  const shop = await shopWith({}, 'host-2')(world);
  const { privateKey, publicKey } = createDeviceKey();
  const file = await sign(world, shop.address, publicKey);
  return { ...shop, file, privateKey, proof: createDeactivationProof(file, privateKey) };
}

/** The proof of the device with some claims changed, signed by its own key. */
const altered =
  (claims: object) =>
  ({ proof, privateKey }: Offline) => {
    const stated = JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString());
    return { proof: signJws(createSigner(privateKey), 'lkm-deactivation+jwt', { ...stated, ...claims }) };
  };

const other = createDeviceKey();
const freed = {
  body: {
    message: 'Device deactivated',
    hostId: 'host-1',
    files: [expect.objectContaining({ hostId: 'host-1' })],
    code: 0,
  },
};

scenarios<Offline>(
  'keys.deactivateOffline',
  {
    given: deactivated,
    body: ({ address, proof }) => ({ ...address, proof }),
    wrote: { devices: -1, revocation_lists: 1 },
  },
  [
    row('frees the slot of the device and revokes its file', freed, {
      as: { scopes: ['license:write'] },
      afterwards: async (world, subject, answer) => {
        await leaves('host-2')(world, subject, answer);
        const { events } = await recordedOf(world, 'keys.deactivateOffline');
        const { id } = answer.body.files[0];
        expect(events).toMatchObject([{ type: 'device.deactivated', data: { hostId: 'host-1', proofOf: id } }]);
      },
    }),
    row('takes a proof with spaces around it', freed, { send: ({ proof }) => ({ proof: `  ${proof} ` }) }),
    row('takes the proof of a file whose key was replaced and has ended', freed, {
      given: async (world, { address }) =>
        expect((await world.call('admin', 'POST', '/key/reissue', { ...address, overlap: 'PT0S' })).status).toBe(200),
    }),
    row('takes the proof of one of very many files', freed, {
      given: (world) =>
        world.sql(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100)
          insert into license_files (account_id, id, license_id, host_id, kid, signed_at, ends_at)
          select account_id, id || i, license_id, 'host-2', kid, signed_at, '2027-01-01T00:00:00.000Z' from n, license_files
          where host_id = 'host-1'`),
    }),
    row('takes a proof that states each claim of the licence file', freed, { send: altered({}) }),
    row('takes a proof that states another key of the licence than the request', freed, {
      given: async (world, subject) => {
        const { body } = await world.call('admin', 'POST', '/key/reissue', { ...subject.address, overlap: 'P1D' });
        return { ...subject, address: { ...subject.address, licenseKey: body.key } };
      },
    }),
    ...Object.entries({
      jti: 'fil_000000000000000000000000',
      sub: 'lic_000000000000000000000000',
      productId: 'prod_000000000000000000000000',
      key: '29TVQ-QYKWF-SG8QQ-4K85R-YFSVJ',
      machine: 'host-2',
    }).map(([name, text]) =>
      row<Offline>(`refuses a proof whose ${name} is not that of the licence file`, 'proofRefused', {
        send: altered({ [name]: text }),
      }),
    ),
    row('refuses a proof that states the key of another licence', 'proofRefused', {
      given: async (world, subject) => {
        const { productId } = subject.address;
        const { body } = await world.call('admin', 'POST', '/create-key', { productId });
        return { ...subject, ...altered({ key: body.key })(subject) };
      },
    }),
    ...Object.entries({ machine: 'host\0', jti: '\ud800', key: 'a\0' }).map(([name, text]) =>
      row<Offline>(`refuses a proof whose ${name} no database can look for`, 'proofRefused', {
        send: ({ proof }) => {
          const [header, claims = '', signature] = proof.split('.');
          const changed = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), [name]: text };
          return { proof: [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.') };
        },
      }),
    ),
    row('refuses a proof that was used, after the device is back with another key', 'proofRefused', {
      given: async (world, { address, proof }) => {
        await world.call('admin', 'POST', '/key/deactivate-offline', { ...address, proof });
        await sign(world, address, other.publicKey);
      },
    }),
    row('refuses a proof that was used, after the device is back with the same key', 'proofRefused', {
      given: async (world, { address, proof, privateKey }) => {
        await world.call('admin', 'POST', '/key/deactivate-offline', { ...address, proof });
        await sign(world, address, readDeviceKey(privateKey).publicKey);
      },
    }),
    row('refuses the proof of a device that is freed', 'deviceNotFound', {
      given: async (world, { address }) =>
        void (await world.call('admin', 'POST', '/deactivate-key', { ...address, hostId: 'host-1' })),
    }),
    row('refuses a proof that another key has signed', 'proofRefused', {
      send: ({ file }) => ({ proof: createDeactivationProof(file, other.privateKey) }),
    }),
    row('refuses a proof for a device that has told no key', 'proofRefused', {
      given: (world) => world.sql('update devices set public_key = null'),
    }),
    row('refuses a key that is no point of the curve', 'proofRefused', {
      given: (world) => world.sql(`update devices set public_key = '${'_'.repeat(43)}'`),
    }),
    row('refuses the proof of the file of another device', 'proofRefused', {
      given: async (world, { address, privateKey }) => {
        const theirs = await sign(world, address, readDeviceKey(privateKey).publicKey, 'host-2');
        const claims = JSON.parse(
          Buffer.from(createDeactivationProof(theirs, privateKey).split('.')[1] ?? '', 'base64url').toString(),
        );
        expect(claims.machine).toBe('host-2');
        await world.sql(`update license_files set host_id = 'host-9' where host_id = 'host-1'`);
      },
    }),
    row('refuses what is no proof', 'proofRefused', { send: { proof: 'a.b.c' } }),
    row('refuses a licence file in its place', 'proofRefused', {
      send: ({ file }) => ({ proof: JSON.parse(file).licenseToken }),
    }),
    ...unknownKeys(),
  ],
);
