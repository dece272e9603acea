import { type keyDevices, MAX_SELF_REBINDS_PER_YEAR } from '../contract/devices.ts';
import type { InputOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { HostId, LicenseKey } from '../contract/scalars.ts';
import { seesWholeLicense } from '../domain/access.ts';
import { type Changes, differences } from '../domain/changes.ts';
import { newId } from '../domain/ids.ts';
import { type Device, endIfUsed, graceWarning, grantEnd, isWaiting, type License } from '../domain/license.ts';
import { readDeactivation } from '../domain/license-file/offline.ts';
import { canonicalKey } from '../domain/license-key.ts';
import { featuresOf } from '../domain/plan.ts';
import { addSeconds, EPOCH, earlier } from '../domain/time.ts';
import type { Context } from './context.ts';
import { byKey, findLicense } from './keys/find.ts';
import { linksOf, planOf, showDevice, showLicense } from './keys/show.ts';
import { revokeFiles, signFile } from './license-files.ts';
import { found, type Operations, onProduct, sameForAll, unlessUnmasked } from './operation.ts';
import { deviceEvent } from './record.ts';
import {
  knownByFingerprint,
  type LoadedFacts,
  loadAllowed,
  loadFacts,
  refusalOf,
  refuseUnlessAllowed,
} from './rules.ts';

export const deviceOperations: Operations<typeof keyDevices> = {
  deactivate: {
    // A `client` token has to name a device, and frees no other.
    authorize: (caller, input) =>
      onProduct('deviceNotFound')(caller, input) ??
      (input.hostId !== undefined || seesWholeLicense(caller) ? null : 'invalidParams'),
    authorizeReplay: refuseUnlessMovable,
    async perform(context, { hostId = null, ...address }) {
      const { repositories, now } = context;
      const { license } = await loadAllowed(context, 'deactivate', { ...address, hostId }, 'deviceNotFound');
      // The licence before its devices, as all others do, so that none of them wait for each other.
      if (!(await repositories.keys.lock(license))) throw apiError('deviceNotFound');
      if (hostId !== null && context.caller.kind === 'client') await countMove(context, license);
      const devices =
        hostId === null
          ? await repositories.devices.removeAll(license)
          : // Another request may have freed it since we looked.
            [found(await repositories.devices.remove(license, hostId), 'deviceNotFound')];
      await repositories.keys.freeSlots(license, devices.length, now);
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
      // Others may have taken slots since the facts were loaded.
      const license = await findLicense(context, input);
      const { customer } = facts;
      const isWhole = seesWholeLicense(context.caller);
      const shown = showLicense(license, [], context.caller, await linksOf(context, license));
      return {
        message: 'Device activated',
        device: showDevice(device, context.caller),
        activations: license.activations,
        maxActivations: license.maxActivations,
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
    ...sameForAll(onProduct('licenseNotFound')),
    async perform(context, input) {
      const { now } = context;
      const facts = await loadFacts(context, 'sign', input);
      const { license, customer } = facts;
      const ends = input.ttl === undefined ? null : addSeconds(now, input.ttl);
      if (ends === null && endIfUsed(license, now) === null) throw apiError('invalidParams', { fields: ['ttl'] });
      refuseUnlessAllowed('sign', facts);
      const { fingerprint, publicKey } = input;
      const held = { license, device: await lockDevice(context, facts) };
      const device = await holdSlot(context, held, { hostId: input.hostId, fingerprint, publicKey });
      // The first use has set the end: this one, or another at the same time.
      const after = isWaiting(license) ? await findLicense(context, input) : license;
      // The file states the key that was given, which its holder knows: also where that has been replaced.
      const plan = after.planId === null ? null : await planOf(context, after.planId);
      const used = { ...after, key: canonicalKey(input.licenseKey), features: featuresOf(after, plan) };
      const expiresAt = found(earlier(grantEnd(used, now), ends), 'invalidParams', { fields: ['ttl'] });
      const file = await signFile(context, used, { hostId: device.hostId as HostId, customer, expiresAt });
      return { file, ...graceWarning(used, now) };
    },
  },

  deactivateOffline: {
    ...sameForAll(onProduct('licenseNotFound')),
    async perform(context, { proof, ...address }) {
      const { repositories, now } = context;
      // The file may state a key that has ended since: its device has no network to be told of another one.
      const atAnyTime = { ...context, now: EPOCH };
      const license = await findLicense(atAnyTime, address);
      found(await repositories.keys.lock(license), 'licenseNotFound');
      const claims = found(readDeactivation(proof), 'proofRefused');
      const { accountId, id, productId } = license;
      const stated = await byKey(atAnyTime, claims.key as LicenseKey, (key) =>
        repositories.keys.find(accountId, productId, key),
      );
      if (claims.sub !== id || claims.productId !== productId || stated?.id !== id) throw apiError('proofRefused');
      const hostId = claims.machine as HostId;
      const device = found(await repositories.devices.find(license, hostId), 'deviceNotFound');
      const file = await repositories.files.findOutstanding(license, claims.jti, now);
      // The file of the proof is revoked with it, so that it counts once.
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
      await unlessUnmasked(context, input, stored);
    },
    async perform(context, { hostId, newHostId, deviceTag = null, ...address }) {
      const { repositories, caller, now, ipAddress } = context;
      const { devices } = repositories;
      const { license } = await loadAllowed(context, 'rebind', { ...address, hostId: newHostId });
      // Held from here on: whoever takes a slot for the new host has to wait.
      await repositories.keys.lock(license);
      found(await devices.find(license, hostId), 'deviceNotFound');
      if ((await devices.find(license, newHostId)) !== null) throw apiError('hostActivated');
      const rebindingsOfYear = await countMove(context, license);
      const rebound = await devices.rebind(license, hostId, { newHostId, deviceTag, ipAddress, now });
      // Another request may have freed it since we looked.
      const device = found(rebound, 'deviceNotFound');
      context.record(deviceEvent('device.rebound', license, device, { previousHostId: hostId, rebindingsOfYear }));
      const files = await revokeFiles(context, license, hostId);
      return { message: 'Device rebound', device: showDevice(device, caller), ...files };
    },
  },
};

/**
 * The device of the host, which is made one of the licence if it is none yet. Throws ApiError `activationLimit` when no
 * slot is free for it.
 */
export async function holdSlot(
  context: Context,
  { license, device }: Pick<LoadedFacts, 'license' | 'device'>,
  {
    hostId,
    deviceTag,
    fingerprint,
    publicKey,
  }: Told & { readonly hostId: HostId; readonly deviceTag?: string | undefined },
): Promise<Device> {
  const told = { fingerprint, publicKey };
  if (device !== null) return noteTold(context, license, device, told);
  const { repositories, now, ipAddress } = context;
  if (fingerprint && license.fingerprintMatch !== null) {
    // Another request may have activated this machine by another name since we looked.
    const locked = await lockUsable(context, license);
    const known = await knownByFingerprint(context, locked, fingerprint);
    if (known !== null) return noteTold(context, license, known, told);
  }
  if (await repositories.keys.takeSlot(license, now, endIfUsed(license, now))) {
    const added = {
      id: newId('dev', now, context.random(10)),
      hostId,
      deviceTag: deviceTag ?? null,
      ipAddress,
      activationTime: now,
      fingerprint: fingerprint ?? null,
      publicKey: publicKey ?? null,
    };
    if (await repositories.devices.insert(license, added)) {
      context.record(deviceEvent('device.activated', license, added));
      return added;
    }
    await repositories.keys.freeSlots(license, 1, now);
  }
  await lockUsable(context, license);
  // Another request may have activated this very host since we looked, perhaps with the last slot.
  const other = await repositories.devices.find(license, hostId);
  if (other === null) throw refusalOf('activationLimit', { license, hostId });
  return noteTold(context, license, other, told);
}

/** What a host tells of itself besides. */
type Told = Changes<Pick<Device, 'fingerprint' | 'publicKey'>>;

/** Keeps what a device tells anew: parts of a machine are replaced one after the other. */
async function noteTold({ repositories }: Context, license: License, device: Device, told: Told): Promise<Device> {
  const news = differences<Pick<Device, 'fingerprint' | 'publicKey'>>(device, told);
  if (Object.keys(news).length > 0) await repositories.devices.note(license, device.hostId, news);
  return { ...device, ...news };
}

/**
 * The device of the host, if it still is one. Whoever frees its slot, or moves it, waits until this transaction ends, and
 * then revokes what was signed in it.
 */
async function lockDevice(context: Context, { license, device, hostId }: LoadedFacts): Promise<Device | null> {
  if (device === null || hostId === null) return null;
  await lockUsable(context, license);
  return context.repositories.devices.find(license, hostId);
}

/**
 * The licence as it is now, which all others are kept from changing. Throws ApiError when it was removed, disabled or revoked
 * since we looked.
 */
async function lockUsable({ repositories }: Context, license: License): Promise<License> {
  const locked = found(await repositories.keys.lock(license), 'licenseNotFound');
  if (locked.revokedAt !== null) throw apiError('licenseRevoked');
  if (locked.vendorDisabled) throw apiError('licenseDisabled');
  return locked;
}

/**
 * Counts that a slot leaves its host, and returns how many have in this year. Throws ApiError `rebindLimit` when a token of
 * kind `client`, which is in the hands of the customer, has no more left. Source: decision 0044.
 */
async function countMove({ repositories, caller, now }: Context, license: License): Promise<number> {
  const most = caller.kind === 'client' ? MAX_SELF_REBINDS_PER_YEAR : null;
  return found(await repositories.devices.countRebinding(license, Number(now.slice(0, 4)), most), 'rebindLimit');
}

async function refuseUnlessMovable(context: Context, input: InputOf<(typeof keyDevices)['deactivate']>): Promise<void> {
  if (context.caller.kind !== 'client') return;
  const { customerCanSelfReset } = await findLicense(context, input);
  if (!customerCanSelfReset) throw apiError('selfResetOff');
}
