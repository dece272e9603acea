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

/** What a host tells of itself besides. */
type Told = Changes<Pick<Device, 'fingerprint' | 'publicKey'>>;

interface Host extends Told {
  readonly hostId: HostId;
  readonly deviceTag?: string | undefined;
}

/**
 * The device of the host, which is made one of the licence if it is none yet. Throws ApiError `activationLimit` when no slot
 * is left for it, `selfResetOff` or `rebindLimit` when the customer may not give it the slot of another host.
 */
export async function holdSlot(context: Context, facts: LoadedFacts, host: Host): Promise<Device> {
  const { license, device } = facts;
  const { hostId, deviceTag, fingerprint, publicKey } = host;
  const told = { fingerprint, publicKey };
  if (device !== null) return noteTold(context, license, device, told);
  const { repositories, now, ipAddress } = context;
  if (fingerprint && license.fingerprintMatch !== null) {
    // Another request may have activated this machine by another name since we looked.
    const locked = await lockUsable(context, license);
    const known = await knownByFingerprint(context, locked, fingerprint);
    if (known !== null) return noteTold(context, license, known, told);
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
  if (other !== null) return noteTold(context, license, other, told);
  const move = await claimSlot(context, 'activate', { ...facts, license: locked, holdsSlot: false, hostId }, told);
  await repositories.devices.insert(license, added);
  context.record(deviceEvent('device.activated', license, added, move));
  return added;
}

/**
 * Gives a host a slot of a licence that the caller has locked: its own promised one, a free one, or the oldest promised one; or
 * the slot of the `leaving` device, which keeps it where the host has its own. Returns what is recorded of a move.
 */
export async function claimSlot(
  context: Context,
  action: 'activate' | 'rebind',
  facts: LoadedFacts,
  { fingerprint, leaving }: Pick<Told, 'fingerprint'> & { readonly leaving?: Device },
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
 * Frees the slots of devices that are none any more; the caller has locked the licence. The slot that a token of kind `client`
 * frees stays promised to its device; freeing all devices ends all promises.
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

/** Promises its slot to a device that leaves, where the customer gives it up; returns how many slots that are. */
async function promiseSlot({ repositories, caller, now }: Context, license: License, device: Device): Promise<0 | 1> {
  const { hostId, fingerprint } = device;
  if (caller.kind !== 'client' || !canPromise(license, hostId, now)) return 0;
  const { slotYear } = slotYearOf(license, now);
  await repositories.slotPromises.add(license, slotYear, { hostId, fingerprint, promisedAt: now });
  return 1;
}

/** What a change leaves of promises: those for which there is room, and nothing of an earlier customer. */
export async function settleSlots({ repositories, now }: Context, before: License, after: License): Promise<SlotYear> {
  const slots = slotYearOf(before, now);
  const isOfOther = before.customerId !== after.customerId;
  const promises = await repositories.slotPromises.list(before, slots.slotYear, slots.promisedSlots);
  const kept = isOfOther ? [] : promisesKept(after, promises);
  for (const promise of promises) if (!kept.includes(promise)) await repositories.slotPromises.remove(before, promise);
  return { ...slots, promisedSlots: kept.length, moves: isOfOther ? 0 : slots.moves };
}

/** Writes what has changed of the slots of a licence that the caller has locked. */
const writeSlots = ({ repositories, now }: Context, license: License, changes: Partial<License>) =>
  repositories.keys.patch(license, {
    ...slotYearOf(license, now),
    ...changes,
    updatedAt: later(now, license.updatedAt),
  });

/**
 * Notes that a licence is used today. To be called before its devices and sessions are changed, as all changes of a licence
 * are, so that none of them wait for each other.
 */
export async function seeLicense({ repositories, now }: Context, license: License): Promise<void> {
  const today = dayOf(now);
  if (license.lastSeenOn !== today) await repositories.keys.see(license, today);
}

/** Keeps what a device tells anew, and that it was seen today: parts of a machine are replaced one after the other. */
async function noteTold(context: Context, license: License, device: Device, told: Told): Promise<Device> {
  const news = differences<Pick<Device, keyof Told | 'lastSeenOn'>>(device, {
    ...told,
    lastSeenOn: dayOf(context.now),
  });
  await seeLicense(context, license);
  if (Object.keys(news).length > 0) await context.repositories.devices.note(license, device.hostId, news);
  return { ...device, ...news };
}

/**
 * The device of the host, if it still is one. Whoever frees its slot, or moves it, waits until this transaction ends, and
 * then revokes what was signed in it.
 */
export async function lockDevice(context: Context, { license, device, hostId }: LoadedFacts): Promise<Device | null> {
  if (device === null || hostId === null) return null;
  await lockUsable(context, license);
  return context.repositories.devices.find(license, hostId);
}

/**
 * The licence as it is now, which all others are kept from changing. Throws ApiError when it was removed, disabled or revoked
 * since we looked.
 */
async function lockUsable({ repositories }: Context, license: License): Promise<License> {
  const locked = orThrow(await repositories.keys.lock(license), 'licenseNotFound');
  if (locked.revokedAt !== null) throw apiError('licenseRevoked');
  if (locked.vendorDisabled) throw apiError('licenseDisabled');
  return locked;
}
