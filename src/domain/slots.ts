import type { Instant } from '../contract/scalars.ts';
import type { Fingerprint, License } from './license.ts';

/** A slot that a device has left, and that stays promised to the device until the calendar year ends. Decision 0009. */
export interface SlotPromise {
  readonly hostId: string;
  readonly promisedAt: Instant;
  /** The last fingerprint of the device. */
  readonly fingerprint: Fingerprint | null;
}

/** The slots of a licence that are promised, and the moves of its slots, in a calendar year, UTC. */
export type SlotYear = Pick<License, 'slotYear' | 'promisedSlots' | 'moves'>;

/** The slots of a licence that no device has left yet. */
export const unmoved: SlotYear = { slotYear: 0, promisedSlots: 0, moves: 0 };

/**
 * The promises and moves of the current year. A new year starts without promises and moves; a clock that is set back starts
 * no new year.
 */
export function slotYearOf({ slotYear, promisedSlots, moves }: SlotYear, now: Instant): SlotYear {
  const year = Number(now.slice(0, 4));
  return slotYear < year ? { ...unmoved, slotYear: year } : { slotYear, promisedSlots, moves };
}

/**
 * Whether a device that leaves a licence is promised its slot: not where slots have no limit, or where the devices exceed
 * it.
 */
export function canPromise(license: License, hostId: string, now: Instant): boolean {
  const { maxActivations, activations } = license;
  const { promisedSlots } = slotYearOf(license, now);
  return maxActivations !== null && activations + promisedSlots <= maxActivations && isAllowed(license, hostId);
}

/** The promises for which a changed licence has room, the oldest first: the latest promises to hosts that may use it. */
export function promisesKept(license: License, promises: readonly SlotPromise[]): readonly SlotPromise[] {
  const { maxActivations, activations } = license;
  const room = maxActivations === null ? 0 : Math.max(0, maxActivations - activations);
  const allowed = promises.filter(({ hostId }) => isAllowed(license, hostId));
  return allowed.slice(Math.max(0, allowed.length - room));
}

/**
 * How many slots the customer of a licence may still give to other hosts this year, where a freed slot that no host has
 * taken yet counts as given; null is any number.
 */
export function movesLeft(license: License, now: Instant, maxMoves: number): number | null {
  if (license.maxActivations === null) return null;
  const { moves, promisedSlots } = slotYearOf(license, now);
  return license.customerCanSelfReset ? Math.max(0, maxMoves - moves - promisedSlots) : 0;
}

const isAllowed = ({ allowedHosts }: License, hostId: string): boolean => allowedHosts?.includes(hostId) ?? true;
