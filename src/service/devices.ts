import type { devices, keyDevices } from '../contract/devices.ts';
import type { InputOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { HostId, LicenseKey } from '../contract/scalars.ts';
import { type Caller, productsOf, seesSecrets, seesWholeLicense } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import { type Device, endIfUsed, graceWarning, grantEnd, isWaiting, type License } from '../domain/license.ts';
import { signActivation } from '../domain/license-file/activation.ts';
import { readDeactivation } from '../domain/license-file/offline.ts';
import { canonicalKey, showKey } from '../domain/license-key.ts';
import { featuresOf } from '../domain/plan.ts';
import { addSeconds, EPOCH, earlier } from '../domain/time.ts';
import type { Context } from './context.ts';
import { byKey, findLicense } from './keys/find.ts';
import { linksOf, planOf, showDevice, showLicense, showNames } from './keys/show.ts';
import { revokeFiles, signFile } from './license-files.ts';
import { readPart } from './lists.ts';
import { anyone, type Operations, onProduct, orThrow, replayToAnyone, replayUnlessSecret } from './operation.ts';
import { deviceEvent } from './record.ts';
import { loadAllowed, loadFacts, refuseUnlessAllowed } from './rules.ts';
import { claimSlot, holdSlot, leaveSlots, lockDevice } from './slots.ts';

export const deviceOperations: Operations<typeof keyDevices> = {
  deactivate: {
    // A `client` token has to name a device, and frees no other device.
    ...replayToAnyone(
      (caller: Caller, input: InputOf<(typeof keyDevices)['deactivate']>) =>
        onProduct('deviceNotFound')(caller, input) ??
        (input.hostId !== undefined || seesWholeLicense(caller) ? null : 'invalidParams'),
    ),
    async perform(context, { hostId = null, ...address }) {
      const { repositories } = context;
      const { license } = await loadAllowed(context, 'deactivate', { ...address, hostId }, 'deviceNotFound');
      // Locks the licence before its devices, as every operation does; another order could deadlock.
      const locked = orThrow(await repositories.keys.lock(license), 'deviceNotFound');
      const devices =
        hostId === null
          ? await repositories.devices.removeAll(license)
          : // Another request may have freed it since we looked.
            [orThrow(await repositories.devices.remove(license, hostId), 'deviceNotFound')];
      await leaveSlots(context, locked, devices, hostId === null);
      for (const device of devices) context.record(deviceEvent('device.deactivated', license, device));
      const message = hostId === null ? 'All devices deactivated' : 'Device deactivated';
      return { message, ...(await revokeFiles(context, license, hostId)) };
    },
  },

  activate: {
    authorize: onProduct('licenseNotFound'),
    async perform(context, input) {
      const facts = await loadAllowed(context, 'activate', input);
      const device = await holdSlot(context, facts, input);
      context.record({ resource: { type: 'device', id: device.id }, data: { licenseId: facts.license.id } });
      // Other requests may have taken slots since the facts were loaded.
      const license = await findLicense(context, input);
      const { customer } = facts;
      const isWhole = seesWholeLicense(context.caller);
      const shown = showLicense(license, [], context.caller, await linksOf(context, license));
      return {
        message: 'Device activated',
        device: showDevice(device, context.caller),
        activations: license.activations,
        maxActivations: license.maxActivations,
        ...(input.nonce !== undefined && { proof: await proveActivation(context, license, input, device) }),
        ...graceWarning(license, context.now),
        metadata: shown.metadata,
        licenseeName: customer?.name ?? null,
        licenseeEmail: (isWhole && customer?.email) || null,
        versionId: shown.versionId,
        version: shown.version,
        ...(isWhole && { allowedHosts: shown.allowedHosts }),
      };
    },
  },

  sign: {
    ...replayToAnyone(onProduct('licenseNotFound')),
    async perform(context, input) {
      const { now } = context;
      const facts = await loadFacts(context, 'sign', input);
      const { license, customer } = facts;
      const ends = input.ttl === undefined ? null : addSeconds(now, input.ttl);
      if (ends === null && endIfUsed(license, now) === null) throw apiError('invalidParams', { fields: ['ttl'] });
      refuseUnlessAllowed('sign', facts);
      const { fingerprint, publicKey } = input;
      const held = { ...facts, device: await lockDevice(context, facts) };
      const device = await holdSlot(context, held, { hostId: input.hostId, fingerprint, publicKey });
      // The first use has set the end: this use, or another use at the same time.
      const after = isWaiting(license) ? await findLicense(context, input) : license;
      // The file states the key of the request, even an earlier key: the caller knows no other key.
      const plan = after.planId === null ? null : await planOf(context, after.planId);
      const used = { ...after, key: canonicalKey(input.licenseKey), features: featuresOf(after, plan) };
      const expiresAt = orThrow(earlier(grantEnd(used, now), ends), 'invalidParams', { fields: ['ttl'] });
      const file = await signFile(context, used, {
        ...{ hostId: device.hostId as HostId, customer, expiresAt, nonce: input.nonce },
      });
      return { file, ...graceWarning(used, now) };
    },
  },

  deactivateOffline: {
    ...replayToAnyone(onProduct('licenseNotFound')),
    async perform(context, { proof, ...address }) {
      const { repositories, now } = context;
      // The file may state an earlier key that has ended: the device has no network to learn the new key.
      const atAnyTime = { ...context, now: EPOCH };
      const license = await findLicense(atAnyTime, address);
      orThrow(await repositories.keys.lock(license), 'licenseNotFound');
      const claims = orThrow(readDeactivation(proof), 'proofRefused');
      const { accountId, id, productId } = license;
      const stated = await byKey(atAnyTime, claims.key as LicenseKey, (key) =>
        repositories.keys.find(accountId, productId, key),
      );
      if (claims.sub !== id || claims.productId !== productId || stated?.id !== id) throw apiError('proofRefused');
      const hostId = claims.machine as HostId;
      const device = orThrow(await repositories.devices.find(license, hostId), 'deviceNotFound');
      const file = await repositories.files.findOutstanding(license, claims.jti, now);
      // Revoking the file of the proof makes the proof count only once.
      const isOpen = file !== null && file.hostId === hostId && file.revokedAt === null;
      if (device.publicKey === null || !isOpen || !claims.isSignedBy(device.publicKey)) throw apiError('proofRefused');
      await repositories.devices.remove(license, hostId);
      await repositories.keys.freeSlots(license, 1, now);
      context.record(deviceEvent('device.deactivated', license, device, { proofOf: claims.jti }));
      return { message: 'Device deactivated', hostId, ...(await revokeFiles(context, license, hostId)) };
    },
  },

  rebind: {
    authorize: onProduct('licenseNotFound'),
    async authorizeReplay(context, input, stored) {
      await refuseUnlessMovable(context, input);
      await replayUnlessSecret(context, input, stored);
    },
    async perform(context, { hostId, newHostId, deviceTag = null, ...address }) {
      const { repositories, caller, now, ipAddress } = context;
      const { devices } = repositories;
      const facts = await loadAllowed(context, 'rebind', { ...address, hostId: newHostId });
      // Locks the licence: other requests for a slot wait.
      const license = orThrow(await repositories.keys.lock(facts.license), 'licenseNotFound');
      const leaving = orThrow(await devices.find(license, hostId), 'deviceNotFound');
      if ((await devices.find(license, newHostId)) !== null) throw apiError('hostActivated');
      const move = await claimSlot(context, 'rebind', { ...facts, license }, { leaving });
      const rebound = await devices.rebind(license, hostId, { newHostId, deviceTag, ipAddress, now });
      // Another request may have freed it since we looked.
      const device = orThrow(rebound, 'deviceNotFound');
      context.record(deviceEvent('device.rebound', license, device, { previousHostId: hostId, ...move }));
      const files = await revokeFiles(context, license, hostId);
      return { message: 'Device rebound', device: showDevice(device, caller), ...files };
    },
  },
};

/** A token that is limited to some products finds the devices of their keys. */
export const deviceListOperations: Operations<typeof devices> = {
  list: {
    authorize: anyone,
    async perform({ repositories, caller }, { productId, limit, cursor, ...filters }) {
      const wanted = { productIds: productsOf(caller, productId), ...filters };
      const { items, meta } = await readPart({ limit, cursor }, (page) =>
        repositories.devices.page(caller.accountId, wanted, page),
      );
      const shown = items.map((device) => ({
        ...showDevice(device, caller),
        ...{ licenseId: device.licenseId, licenseKey: showKey(device.key, seesSecrets(caller)) },
        ...{ productId: device.productId, customerId: device.customerId, ...showNames(device, caller) },
      }));
      return { items: shown, meta };
    },
  },
};

/** The signed proof of an activation, for the application that sent the nonce. States the key of the request. */
async function proveActivation(
  context: Context,
  license: License,
  { licenseKey, nonce = '' }: InputOf<(typeof keyDevices)['activate']>,
  { hostId }: Device,
): Promise<string> {
  const { now, random } = context;
  const id = newId('act', now, random(10));
  return signActivation(await context.signer(), {
    ...{ id, hostId, nonce, now },
    license: { ...license, key: canonicalKey(licenseKey) },
  });
}

/** Refuses to replay a move to a token of kind `client` if the customer may not move slots. */
async function refuseUnlessMovable(context: Context, input: InputOf<(typeof keyDevices)['rebind']>): Promise<void> {
  if (context.caller.kind !== 'client') return;
  const { customerCanSelfReset, maxActivations } = await findLicense(context, input);
  if (!customerCanSelfReset && maxActivations !== null) throw apiError('selfResetOff');
}
