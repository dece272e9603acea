import { type Customer, type Key, liveSessions, type Refusal } from '../state.ts';
import { later } from '../time.ts';

/** Errors by name, as DESIGN has them. */
export const refusals = {
  invalid: { status: 400, code: 1 },
  keyReused: { status: 400, code: 3 },
  notActivated: { status: 403, code: 2 },
  slotsTaken: { status: 403, code: 3 },
  hostNotAllowed: { status: 403, code: 4 },
  expired: { status: 403, code: 5 },
  blocked: { status: 403, code: 6 },
  customerInactive: { status: 403, code: 7 },
  wrongType: { status: 403, code: 8 },
  seatsTaken: { status: 403, code: 9 },
  notFound: { status: 404, code: 1 },
  customerNotFound: { status: 404, code: 2 },
  sessionNotFound: { status: 404, code: 3 },
  notSigned: { status: 403, code: 11 },
  emailTaken: { status: 409, code: 2 },
  stale: { status: 409, code: 5 },
  inUse: { status: 409, code: 6 },
  noEnd: { status: 409, code: 7 },
  hostHoldsSlot: { status: 409, code: 8 },
  referenceTaken: { status: 409, code: 10 },
} as const satisfies Record<string, Refusal>;

/** Whether a licence has expired: from the instant of its expiry on. In its grace period it may still be used. */
export const hasExpired = ({ expiresAt }: Key, now: number): boolean => expiresAt !== null && now >= expiresAt;

/** Until when an expired licence may be used; null when it has no end or no grace period. */
export const graceEnd = ({ expiresAt, grace }: Key): number | null =>
  expiresAt === null || grace === null ? null : later(expiresAt, grace);

/** The first use sets the end of a licence that waits for it. */
export function begin(key: Key, now: number): void {
  if (key.expiresAt !== null || key.expiresAfter === null) return;
  key.expiresAt = later(now, key.expiresAfter);
  key.change = key.change === 'terms' ? 'terms' : 'devices';
}

/** Whether nothing of a licence may be used any more: the grace period is over too. */
function isOver(key: Key, now: number): boolean {
  const end = graceEnd(key) ?? key.expiresAt;
  return end !== null && now >= end;
}

/** Whether a licence has a device and is not blocked. */
export const isActivated = ({ devices, isBlocked }: Key): boolean => devices.length > 0 && !isBlocked;

/** Why a licence may not be used by a host at all; limits come after this. */
export function refuseUse(key: Key, hostId: string | null, now: number): Refusal | null {
  if (key.isBlocked) return refusals.blocked;
  if (isOver(key, now)) return refusals.expired;
  if (isInactive(key.customer)) return refusals.customerInactive;
  if (key.allowedHosts !== null && (hostId === null || !key.allowedHosts.includes(hostId))) {
    return refusals.hostNotAllowed;
  }
  return null;
}

const isInactive = (customer: Customer | null): boolean => customer !== null && !customer.active;

export const holdsSlot = (key: Key, hostId: string): boolean => key.devices.some((device) => device.hostId === hostId);

export const hasFreeSlot = ({ devices, maxActivations }: Key): boolean =>
  maxActivations === null || devices.length < maxActivations;

export const hasFreeSeat = (key: Key, now: number): boolean =>
  key.maxSessions === null || liveSessions(key, now).length < key.maxSessions;
