import { type keyDevices, MAX_SELF_REBINDS_PER_YEAR } from '../contract/devices.ts';
import type { InputOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { HostId } from '../contract/scalars.ts';
import { mayFree, seesSecrets } from '../domain/access.ts';
import { newId } from '../domain/ids.ts';
import type { Device, License } from '../domain/license.ts';
import { endIfUsed, graceWarning, grantEnd, isWaiting } from '../domain/term.ts';
import { addSeconds, earlier } from '../domain/time.ts';
import type { Context, UseCase } from './context.ts';
import { findLicense } from './keys/keys.ts';
import { showDevice } from './keys/show-license.ts';
import { revokeFiles, signFile } from './license-files.ts';
import { type Operations, onProduct, sameForAll, unlessUnmasked } from './operation.ts';
import { deviceEvent } from './record.ts';
import { type LoadedFacts, loadFacts, refusalOf, refuseUnlessAllowed } from './rules.ts';

type Keys = typeof keyDevices;

/** Frees the slot of one device, or of every device. */
const deactivateKey: UseCase<Keys['deactivate']> = async (context, input) => {
  const { repositories, now } = context;
  const facts = await loadFacts(
    context,
    'deactivate',
    { ...input, hostId: input.hostId ?? null, at: now },
    'deviceNotFound',
  );
  refuseUnlessAllowed('deactivate', facts);

  const { license } = facts;
  // The licence before its devices, as all others do, so that none of them wait for each other.
  if (!(await repositories.keys.lock(license))) throw apiError('deviceNotFound');
  if (input.hostId === undefined) {
    const devices = await repositories.devices.removeAll(license);
    await repositories.keys.freeSlots(license, devices.length, now);
    for (const device of devices) context.record(deviceEvent('device.deactivated', license, device));
    return { message: 'All devices deactivated', ...(await revokeFiles(context, license, null)) };
  }
  if (context.caller.kind === 'client') await countMove(context, license);
  const device = await repositories.devices.remove(license, input.hostId);
  // Another request may have freed it since we looked.
  if (device === null) throw apiError('deviceNotFound');
  await repositories.keys.freeSlots(license, 1, now);
  context.record(deviceEvent('device.deactivated', license, device));
  return { message: 'Device deactivated', ...(await revokeFiles(context, license, input.hostId)) };
};

/** Makes a host a device of a licence; one that is keeps its slot. */
const activateKey: UseCase<Keys['activate']> = async (context, input) => {
  const facts = await loadFacts(context, 'activate', { ...input, at: context.now });
  refuseUnlessAllowed('activate', facts);

  const device = await holdSlot(context, facts, input);
  context.record({ resource: { type: 'device', id: device.id }, data: { licenseId: facts.license.id } });
  // Others may have taken slots since the facts were loaded.
  const { activations, maxActivations } = (await findLicense(context, input)) ?? facts.license;
  const warning = graceWarning(facts.license, context.now);
  return {
    message: 'Device activated',
    device: showDevice(device, seesSecrets(context.caller)),
    activations,
    maxActivations,
    ...(warning !== null && { warning }),
  };
};

/** Signs a licence file for one device, which takes a slot unless it holds one. */
const signKey: UseCase<Keys['sign']> = async (context, input) => {
  const { now } = context;
  const facts = await loadFacts(context, 'sign', { ...input, at: now });
  const { license, customer } = facts;
  const ends = input.ttl === undefined ? null : addSeconds(now, input.ttl);
  if (ends === null && endIfUsed(license, now) === null) throw apiError('invalidParams', { fields: ['ttl'] });
  refuseUnlessAllowed('sign', facts);

  await holdSlot(context, { license, device: await lockDevice(context, facts) }, { hostId: input.hostId });
  // The first use has set the end: this one, or another at the same time.
  const used = (isWaiting(license) ? await findLicense(context, input) : null) ?? license;
  const expiresAt = earlier(grantEnd(used, now), ends);
  if (expiresAt === null) throw apiError('invalidParams', { fields: ['ttl'] });
  const file = await signFile(context, used, {
    hostId: input.hostId,
    customer: customer && { id: customer.id, name: customer.name },
    expiresAt,
  });
  const warning = graceWarning(used, now);
  return { file, ...(warning !== null && { warning }) };
};

/** Gives the slot of a device to another host. */
const rebindKey: UseCase<Keys['rebind']> = async (context, input) => {
  const { repositories, caller, now, ipAddress } = context;
  const { hostId, newHostId } = input;
  const facts = await loadFacts(context, 'rebind', { ...input, hostId: newHostId, at: now });
  const { license } = facts;
  refuseUnlessAllowed('rebind', facts);

  // Held from here on: whoever takes a slot for the new host has to wait.
  await repositories.keys.lock(license);
  if ((await repositories.devices.find(license, hostId)) === null) throw apiError('deviceNotFound');
  if ((await repositories.devices.find(license, newHostId)) !== null) throw apiError('hostActivated');
  const rebindings = await countMove(context, license);
  const device = await repositories.devices.rebind(license, hostId, {
    newHostId,
    deviceTag: input.deviceTag ?? null,
    ipAddress,
    now,
  });
  // Another request may have freed it since we looked.
  if (device === null) throw apiError('deviceNotFound');
  context.record(
    deviceEvent('device.rebound', license, device, { previousHostId: hostId, rebindingsOfYear: rebindings }),
  );
  const files = await revokeFiles(context, license, hostId);
  return { message: 'Device rebound', device: showDevice(device, seesSecrets(caller)), ...files };
};

/**
 * The device of the host, which is made one of the licence if it is none yet. Throws ApiError `activationLimit` when no
 * slot is free for it.
 */
async function holdSlot(
  context: Context,
  { license, device }: Pick<LoadedFacts, 'license' | 'device'>,
  wanted: WantedDevice,
): Promise<Device> {
  if (device !== null) return device;
  const { hostId, deviceTag = null } = wanted;
  const { repositories, now, ipAddress } = context;
  if (await repositories.keys.takeSlot(license, now, endIfUsed(license, now))) {
    const added = { id: newId('dev', now, context.random(10)), hostId, deviceTag, ipAddress, activationTime: now };
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
  return other;
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

/** Keeps all others from changing the licence. Throws ApiError when it was removed or disabled since we looked. */
async function lockUsable({ repositories }: Context, { accountId, productId, key }: License): Promise<void> {
  const license = await repositories.keys.findLocked(accountId, productId, key);
  if (license === null) throw apiError('licenseNotFound');
  if (license.vendorDisabled) throw apiError('licenseDisabled');
}

interface WantedDevice {
  readonly hostId: HostId;
  readonly deviceTag?: string | undefined;
}

/**
 * Counts that a slot leaves its host, and returns how many have in this year. Throws ApiError `rebindLimit` when a token of
 * kind `client`, which is in the hands of the customer, has no more left. Source: decision 0044.
 */
async function countMove({ repositories, caller, now }: Context, license: License): Promise<number> {
  const most = caller.kind === 'client' ? MAX_SELF_REBINDS_PER_YEAR : null;
  const moves = await repositories.devices.countRebinding(license, Number(now.slice(0, 4)), most);
  if (moves === null) throw apiError('rebindLimit');
  return moves;
}

/** Only for who may move devices of the key now. */
async function moving(
  { repositories, caller }: Context,
  { productId, licenseKey }: InputOf<Keys['deactivate']>,
): Promise<void> {
  if (caller.kind !== 'client') return;
  const license = await repositories.keys.find(caller.accountId, productId, licenseKey);
  if (license === null) throw apiError('licenseNotFound');
  if (!license.customerCanSelfReset) throw apiError('selfResetOff');
}

/** The operations on the devices of keys. */
export const deviceOperations: Operations<typeof keyDevices> = {
  deactivate: {
    perform: deactivateKey,
    // A `client` token has to name a device, and frees no other.
    authorize: (caller, input) =>
      onProduct('deviceNotFound')(caller, input) ?? (mayFree(caller, input.hostId ?? null) ? null : 'invalidParams'),
    authorizeReplay: moving,
  },
  activate: { perform: activateKey, authorize: onProduct('licenseNotFound') },
  rebind: {
    perform: rebindKey,
    authorize: onProduct('licenseNotFound'),
    async authorizeReplay(context, input, stored) {
      await moving(context, input);
      await unlessUnmasked(context, input, stored);
    },
  },
  sign: { perform: signKey, authorize: onProduct('licenseNotFound'), authorizeReplay: sameForAll },
};
