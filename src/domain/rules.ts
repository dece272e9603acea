import type { Reason } from '../contract/errors.ts';
import type { HostId, Instant } from '../contract/scalars.ts';
import { graceUntil, isActivated, isWaiting, type License, termOf } from './license.ts';
import { canPromise, slotYearOf } from './slots.ts';

/** A way to use a licence. */
export type Action = 'activate' | 'sign' | 'checkout' | 'heartbeat' | 'rebind' | 'deactivate';

/** The input of the rules. */
export interface Facts {
  readonly license: License;
  /** Null for a licence without a customer. */
  readonly customer: { readonly active: boolean } | null;
  /** The host of the request; null when the request names no host. */
  readonly hostId: HostId | null;
  /** Whether the host is a device of the licence. */
  readonly holdsSlot: boolean;
  /** Whether a slot is promised to the host. */
  readonly hasPromise: boolean;
  /** How many of its sessions have a lease that runs. */
  readonly liveSessions: number;
  readonly now: Instant;
  /** How many moves a year has for a token of kind `client`, which acts for the customer; null: the vendor is not limited. */
  readonly maxMoves: number | null;
}

/** One rule with its outcome. */
export type Rule = {
  readonly rule: RuleName;
  readonly passed: boolean;
  /** A sentence for people. It names no device but the device of the request. */
  readonly detail: string;
  /** The error that it leads to; only of a rule that failed. */
  readonly reason?: Reason;
};

/**
 * Decides whether the licence may be used in this way: each rule in order, and the reason of the first that failed, or
 * null. Slots and seats are taken by the store, without a race. Source: API description, POST /key/sign, POST
 * /deactivate-key and "Errors", 403; decision 0009.
 */
export function decide(action: Action, facts: Facts) {
  const names = rulesByAction[action].filter((name) => facts.maxMoves !== null || !rulesOfMoves.includes(name));
  const rules = names.map((name): Rule => {
    const { reason, judge } = ruleBook[name];
    const [passed, detail] = judge(facts, action);
    return { rule: name, passed, detail, ...(!passed && { reason }) };
  });
  return { rules, refusal: rules.find(({ passed }) => !passed)?.reason ?? null };
}

/**
 * Whether the host can have a slot only in place of another host: by rebinding, or since all slots are taken or promised to
 * other hosts. Decision 0009.
 */
export function isMove(action: Action, { license, holdsSlot, hasPromise, now }: Facts): boolean {
  const { maxActivations, activations } = license;
  if (maxActivations === null || holdsSlot || hasPromise) return false;
  if (action === 'rebind') return true;
  return activations < maxActivations && activations + slotYearOf(license, now).promisedSlots >= maxActivations;
}

interface RuleEntry {
  readonly reason: Reason;
  judge(facts: Facts, action: Action): readonly [passed: boolean, detail: string];
}

const ruleBook = {
  type: {
    reason: 'wrongLicenseType',
    judge: ({ license: { licenseType } }) => [licenseType === 'floating', `The licence is ${licenseType}.`],
  },
  revocation: {
    reason: 'licenseRevoked',
    judge: ({ license: { revokedAt } }) => [
      revokedAt === null,
      revokedAt === null ? 'The licence is not revoked.' : `The licence was revoked at ${revokedAt}.`,
    ],
  },
  enabled: {
    reason: 'licenseDisabled',
    judge: ({ license: { vendorDisabled } }) => [
      !vendorDisabled,
      `The vendor has ${vendorDisabled ? '' : 'not '}disabled the licence.`,
    ],
  },
  term: {
    reason: 'licenseExpired',
    judge: ({ license, now }) => [termOf(license, now) !== 'ended', describeTerm(license, now)],
  },
  customer: {
    reason: 'customerInactive',
    judge: ({ customer }) =>
      customer === null
        ? [true, 'The licence has no customer.']
        : [customer.active, `Its customer is ${customer.active ? '' : 'not '}active.`],
  },
  host: {
    reason: 'deviceNotAllowed',
    judge({ license: { allowedHosts }, hostId }) {
      if (allowedHosts === null) return [true, 'Any host may use the licence.'];
      const isAllowed = hostId !== null && allowedHosts.includes(hostId);
      return [isAllowed, `${hostId ?? 'A host without a name'} is ${isAllowed ? '' : 'not '}an allowed host.`];
    },
  },
  slot: {
    reason: 'activationLimit',
    judge({ license, hostId, holdsSlot, hasPromise, now }) {
      if (holdsSlot) return [true, `${hostId} holds a slot already.`];
      if (hasPromise) return [true, `A slot is promised to ${hostId}.`];
      const { promisedSlots } = slotYearOf(license, now);
      const promised = promisedSlots === 0 ? '' : `, ${promisedSlots} promised to hosts that left them`;
      return judgeLimit('slot', license.activations, license.maxActivations, promised);
    },
  },
  seat: {
    reason: 'sessionLimit',
    judge: ({ license, liveSessions }) => judgeLimit('seat', liveSessions, license.maxConcurrentSessions),
  },
  activated: {
    reason: 'notActivated',
    judge: ({ license }) => [isActivated(license), `The licence is ${isActivated(license) ? '' : 'not '}activated.`],
  },
  selfReset: {
    reason: 'selfResetOff',
    judge(facts, action) {
      if (!isMove(action, facts)) return [true, 'It takes no slot of another host.'];
      const may = facts.license.customerCanSelfReset;
      return [may, `Its customer may ${may ? '' : 'not '}give a slot of another host to this one.`];
    },
  },
  moves: {
    reason: 'rebindLimit',
    judge(facts, action) {
      const { slotYear, moves } = slotYearOf(facts.license, facts.now);
      if (facts.license.maxActivations === null) return [true, 'No move counts where slots have no limit.'];
      const left = Math.max(0, (facts.maxMoves ?? 0) - moves);
      return [left > 0 || !isMove(action, facts), `${left} of ${facts.maxMoves} moves of ${slotYear} are left.`];
    },
  },
  device: {
    reason: 'deviceNotFound',
    judge({ license, hostId, holdsSlot, maxMoves, now }) {
      if (hostId === null) return [true, 'All devices are meant.'];
      if (!holdsSlot) return [false, `${hostId} holds no slot.`];
      const isKept = maxMoves !== null && canPromise(license, hostId, now);
      const year = slotYearOf(license, now).slotYear;
      return [true, `${hostId} holds a slot${isKept ? `, which stays promised to it until ${year} ends` : ''}.`];
    },
  },
} as const satisfies Record<string, RuleEntry>;

export type RuleName = keyof typeof ruleBook;

/** The rules of each action, in the order in which they are checked. */
const rulesByAction = {
  activate: ['revocation', 'enabled', 'term', 'customer', 'host', 'slot', 'selfReset', 'moves'],
  sign: ['revocation', 'enabled', 'term', 'customer', 'host', 'slot', 'selfReset', 'moves'],
  checkout: ['type', 'revocation', 'enabled', 'term', 'customer', 'host', 'seat'],
  heartbeat: ['type', 'revocation', 'enabled', 'term', 'customer', 'host'],
  rebind: ['selfReset', 'revocation', 'enabled', 'term', 'customer', 'host', 'moves'],
  deactivate: ['activated', 'device'],
} as const satisfies Record<Action, readonly RuleName[]>;

/** The rules for customers, which do not bind the vendor. */
const rulesOfMoves: readonly RuleName[] = ['selfReset', 'moves'];

function describeTerm(license: License, now: Instant): string {
  const { expirationDate: end } = license;
  if (isWaiting(license)) return 'The first use sets the end of the licence.';
  if (end === null) return 'The licence never expires.';
  const until = termOf(license, now) === 'inGrace' ? `; it may be used until ${graceUntil(license)}` : '';
  return `The licence ${now < end ? 'expires' : 'expired'} at ${end}${until}.`;
}

const judgeLimit = (what: string, taken: number, most: number | null, more = ''): [passed: boolean, detail: string] =>
  most === null
    ? [true, `The licence has any number of ${what}s.`]
    : [taken < most, `${taken} of ${most} ${what}s are taken${more}.`];
