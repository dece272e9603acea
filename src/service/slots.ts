import { apiError } from '../contract/errors.ts';
import type { JsonObject } from '../contract/events.ts';
import type { HostId } from '../contract/scalars.ts';
import { type Changes, differences } from '../domain/changes.ts';
import { newId } from '../domain/ids.ts';
import { type Device, expiryIfUsed, type License } from '../domain/license.ts';
import { isMove } from '../domain/rules.ts';
import { canPromise, promisesKept, type SlotYear, slotYearOf } from '../domain/slots.ts';
import { dayOf, later } from '../domain/time.ts';
import type { Context } from './context.ts';
import { orThrow } from './operation.ts';
import { deviceEvent } from './record.ts';
import { knownByFingerprint, type LoadedFacts, promiseTo, refuseUnlessAllowed } from './rules.ts';

/** Details of a host that a request may give. */
type HostDetails = Changes<Pick<Device, 'fingerprint' | 'publicKey'>>;

interface Host extends HostDetails {
  readonly hostId: HostId;
  readonly deviceTag?: string | undefined;
}

/**
 * The device of the host; activates the host if it has no slot. Throws ApiError `activationLimit` without a free slot,
 * `selfResetOff` or `rebindLimit` if the customer may not move a slot of another host.
 */
export async function holdSlot(context: Context, facts: LoadedFacts, host: Host): Promise<Device> {
  const { license, device } = facts;
  const { hostId, deviceTag, fingerprint, publicKey } = host;
  const details = { fingerprint, publicKey };
  if (device !== null) return noteUse(context, license, device, details);
  const { repositories, now, ipAddress } = context;
  if (fingerprint && license.fingerprintMatch !== null) {
    // Another request may have activated this machine by another name since we looked.
    const locked = await lockUsable(context, license);
    const known = await knownByFingerprint(context, locked, fingerprint);
    if (known !== null) return noteUse(context, license, known, details);
  }
  const added = {
    id: newId('dev', now, context.random(10)),
    hostId,
    deviceTag: deviceTag ?? null,
    ipAddress,
    activationTime: now,
    lastSeenOn: dayOf(now),
    fingerprint: fingerprint ?? null,
    publicKey: publicKey ?? null,
  };
  if (await repositories.keys.takeSlot(license, now, expiryIfUsed(license, now))) {
    if (await repositories.devices.insert(license, added)) {
      context.record(deviceEvent('device.activated', license, added));
      return added;
    }
    await repositories.keys.freeSlots(license, 1, now);
  }
  const locked = await lockUsable(context, license);
  // Another request may have activated this very host since we looked, perhaps with the last slot.
  const other = await repositories.devices.find(license, hostId);
  if (other !== null) return noteUse(context, license, other, details);
  const move = await claimSlot(context, 'activate', { ...facts, license: locked, holdsSlot: false, hostId }, details);
  await repositories.devices.insert(license, added);
  context.record(deviceEvent('device.activated', license, added, move));
  return added;
}

/**
 * Gives a host a slot of a licence that the caller has locked: its promised slot, else a free slot, else the oldest promised
 * slot. With `leaving`, the host gets the slot of that device, unless a slot is promised to the host. Returns the event of a
 * move.
 */
export async function claimSlot(
  context: Context,
  action: 'activate' | 'rebind',
  facts: LoadedFacts,
  { fingerprint, leaving }: Pick<HostDetails, 'fingerprint'> & { readonly leaving?: Device },
): Promise<JsonObject> {
  const { license, hostId, maxMoves } = facts;
  const { repositories, now } = context;
  const own = await promiseTo(context, license, { hostId, fingerprint: fingerprint ?? undefined });
  const present = { ...facts, hasPromise: own !== null };
  refuseUnlessAllowed(action, present);
  const isMoved = isMove(action, present);
  const { slotYear, ...slots } = slotYearOf(license, now);
  const [oldest = null] =
    isMoved && leaving === undefined ? await repositories.slotPromises.list(license, slotYear, 1) : [];
  const taken = own ?? oldest;
  if (taken !== null) await repositories.slotPromises.remove(license, taken);
  const isCounted = isMoved && maxMoves !== null;
  const moves = slots.moves + (isCounted ? 1 : 0);
  const rest = { ...license, slotYear, promisedSlots: slots.promisedSlots - (taken === null ? 0 : 1) };
  const kept = leaving === undefined || own === null ? 0 : await promiseSlot(context, rest, leaving);
  await writeSlots(context, license, {
    ...{ moves, promisedSlots: rest.promisedSlots + kept },
    ...(leaving === undefined && {
      activations: license.activations + 1,
      lastSeenOn: dayOf(now),
      ...expiryIfUsed(license, now),
    }),
  });
  return { ...(oldest && { movedFromHostId: oldest.hostId }), ...(isCounted && { movesOfYear: moves }) };
}

/**
 * Frees the slots of removed devices; the caller has locked the licence. A slot freed by a token of kind `client` stays promised
 * to its device; freeing all devices ends all promises.
 */
export async function leaveSlots(context: Context, license: License, devices: readonly Device[], isAll: boolean) {
  const [device] = devices;
  const { promisedSlots } = slotYearOf(license, context.now);
  const promised = isAll || device === undefined ? 0 : await promiseSlot(context, license, device);
  if (isAll) await context.repositories.slotPromises.remove(license);
  await writeSlots(context, license, {
    promisedSlots: isAll ? 0 : promisedSlots + promised,
    activations: license.activations - devices.length,
  });
}

/** Promises a freed slot to its device if the customer freed it; returns the number of promised slots. */
async function promiseSlot({ repositories, caller, now }: Context, license: License, device: Device): Promise<0 | 1> {
  const { hostId, fingerprint } = device;
  if (caller.kind !== 'client' || !canPromise(license, hostId, now)) return 0;
  const { slotYear } = slotYearOf(license, now);
  await repositories.slotPromises.add(license, slotYear, { hostId, fingerprint, promisedAt: now });
  return 1;
}

/** Removes the promises that a changed licence has no room for, and all promises after a change of customer. */
export async function settleSlots({ repositories, now }: Context, before: License, after: License): Promise<SlotYear> {
  const slots = slotYearOf(before, now);
  const isOfOther = before.customerId !== after.customerId;
  const promises = await repositories.slotPromises.list(before, slots.slotYear, slots.promisedSlots);
  const kept = isOfOther ? [] : promisesKept(after, promises);
  for (const promise of promises) if (!kept.includes(promise)) await repositories.slotPromises.remove(before, promise);
  return { ...slots, promisedSlots: kept.length, moves: isOfOther ? 0 : slots.moves };
}

/** Writes the changed counts of slots. The caller has locked the licence. */
const writeSlots = ({ repositories, now }: Context, license: License, changes: Partial<License>) =>
  repositories.keys.patch(license, {
    ...slotYearOf(license, now),
    ...changes,
    updatedAt: later(now, license.updatedAt),
  });

/** Notes that a licence is used today. Call it before changing its devices and sessions: every change locks the licence first. */
export async function seeLicense({ repositories, now }: Context, license: License): Promise<void> {
  const today = dayOf(now);
  if (license.lastSeenOn !== today) await repositories.keys.markSeen(license, today);
}

/** Updates the fingerprint of a device, since parts of a machine are replaced one by one, and the day of its last use. */
async function noteUse(context: Context, license: License, device: Device, details: HostDetails): Promise<Device> {
  const news = differences<Pick<Device, keyof HostDetails | 'lastSeenOn'>>(device, {
    ...details,
    lastSeenOn: dayOf(context.now),
  });
  await seeLicense(context, license);
  if (Object.keys(news).length > 0) await context.repositories.devices.updateMachine(license, device.hostId, news);
  return { ...device, ...news };
}

/** Locks the device of the host, if there still is one. A request that frees or moves its slot waits, and revokes the new file too. */
export async function lockDevice(context: Context, { license, device, hostId }: LoadedFacts): Promise<Device | null> {
  if (device === null || hostId === null) return null;
  await lockUsable(context, license);
  return context.repositories.devices.find(license, hostId);
}

/** Locks and reloads a licence. Throws ApiError if it was removed, disabled or revoked since the last look. */
async function lockUsable({ repositories }: Context, license: License): Promise<License> {
  const locked = orThrow(await repositories.keys.lock(license), 'licenseNotFound');
  if (locked.revokedAt !== null) throw apiError('licenseRevoked');
  if (locked.vendorDisabled) throw apiError('licenseDisabled');
  return locked;
}
