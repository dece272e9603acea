import type { Key, Refusal } from '../state.ts';
import { dayOf } from '../time.ts';
import { begin, refusals } from './use.ts';

/** Who asks: the vendor, or an application, which acts for its customer. */
export type By = 'admin' | 'client';

const MAX_MOVES = 3;

/** What is promised and moved in this year: nothing when it begins. */
function slotsOf(key: Key, now: number): Key['slots'] {
  const year = new Date(now).getUTCFullYear();
  if (key.slots.year < year) key.slots = { year, promises: [], moves: 0 };
  return key.slots;
}

export const holdsSlot = (key: Key, hostId: string): boolean => key.devices.some((device) => device.hostId === hostId);

export const hasPromise = (key: Key, hostId: string, now: number): boolean =>
  slotsOf(key, now).promises.some((promise) => promise.hostId === hostId);

/** Why a slot of another host is not given. */
export function refuseMove(key: Key, by: By, now: number): Refusal | null {
  if (by === 'admin' || key.maxActivations === null) return null;
  if (!key.canSelfReset) return refusals.mayNotMove;
  return slotsOf(key, now).moves < MAX_MOVES ? null : refusals.movedTooOften;
}

/** How many slots the customer may still give to other hosts this year, those counted that are promised; null: any number. */
export function movesLeft(key: Key, now: number): number | null {
  if (key.maxActivations === null) return null;
  const { moves, promises } = slotsOf(key, now);
  return key.canSelfReset ? Math.max(0, MAX_MOVES - moves - promises.length) : 0;
}

/** Whether no slot is left that is neither taken nor promised. */
const isSpoken = (key: Key, now: number): boolean =>
  key.maxActivations !== null && key.devices.length + slotsOf(key, now).promises.length >= key.maxActivations;

/** Why a host gets no slot. */
export function refuseSlot(key: Key, hostId: string, by: By, now: number): Refusal | null {
  if (holdsSlot(key, hostId) || hasPromise(key, hostId, now) || !isSpoken(key, now)) return null;
  return slotsOf(key, now).promises.length === 0 ? refusals.slotsTaken : refuseMove(key, by, now);
}

/** Gives a host a slot: its own promised one, a free one, or the oldest promised one. */
export function takeSlot(key: Key, hostId: string, tag: string | null, by: By, now: number): void {
  see(key, hostId, now);
  if (holdsSlot(key, hostId)) return;
  const slots = slotsOf(key, now);
  if (hasPromise(key, hostId, now)) endPromise(key, hostId, now);
  else if (isSpoken(key, now)) {
    slots.promises = oldestFirst(slots.promises).slice(1);
    countMove(key, by, now);
  }
  key.devices.push({ hostId, tag, activatedAt: now, seenOn: dayOf(now) });
  key.change = 'devices';
  begin(key, now);
}

/** A host has used a key. */
export function see(key: Key, hostId: string | null, now: number): void {
  key.seenOn = dayOf(now);
  for (const device of key.devices) if (device.hostId === hostId) device.seenOn = dayOf(now);
}

export function countMove(key: Key, by: By, now: number): void {
  if (by === 'client' && key.maxActivations !== null) slotsOf(key, now).moves += 1;
}

export function endPromise(key: Key, hostId: string, now: number): void {
  const slots = slotsOf(key, now);
  slots.promises = slots.promises.filter((promise) => promise.hostId !== hostId);
}

/** A device leaves. Its slot is promised to it when it is an application that frees it, and it could come back. */
export function leaveSlot(key: Key, hostId: string, by: By, now: number): void {
  const { promises } = slotsOf(key, now);
  const hasRoom = key.maxActivations !== null && key.devices.length + promises.length <= key.maxActivations;
  if (by === 'client' && hasRoom && isAllowed(key, hostId)) promises.push({ hostId, at: now });
  key.devices = key.devices.filter((device) => device.hostId !== hostId);
  key.change = 'devices';
}

/** All devices leave, and nothing is promised any more. */
export function leaveAll(key: Key, now: number): void {
  slotsOf(key, now).promises = [];
  Object.assign(key, { devices: [], change: 'devices' });
}

/** What is left of promises when the vendor has changed a licence. */
export function settle(key: Key, before: Pick<Key, 'customer'>, now: number): void {
  const slots = slotsOf(key, now);
  const room = key.maxActivations === null ? 0 : key.maxActivations - key.devices.length;
  const allowed = oldestFirst(slots.promises.filter(({ hostId }) => isAllowed(key, hostId)));
  slots.promises = room > 0 ? allowed.slice(-room) : [];
  if (key.customer !== before.customer) Object.assign(slots, { promises: [], moves: 0 });
}

const isAllowed = ({ allowedHosts }: Key, hostId: string): boolean => allowedHosts?.includes(hostId) ?? true;

const oldestFirst = (promises: Key['slots']['promises']) =>
  promises.toSorted((one, other) => one.at - other.at || (one.hostId < other.hostId ? -1 : 1));
