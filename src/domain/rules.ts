import type { Reason } from '../contract/errors.ts';
import type { HostId, Instant } from '../contract/scalars.ts';
import { graceUntil, isActivated, isWaiting, type License, termOf } from './license.ts';

/** What somebody wants to do with a licence. */
export type Action = keyof typeof rulesByAction;

/** All that the rules look at. */
export interface Facts {
  readonly license: License;
  /** Null for a licence without a customer. */
  readonly customer: { readonly active: boolean } | null;
  /** The host that asks; null when none is named. */
  readonly hostId: HostId | null;
  /** Whether the host is a device of the licence. */
  readonly holdsSlot: boolean;
  /** How many of its sessions have a lease that runs. */
  readonly liveSessions: number;
  readonly now: Instant;
  /** Whether a token of kind `client` asks: it acts for the customer, who may move devices only where the licence says so. */
  readonly isForCustomer: boolean;
}

/** One rule with its outcome. */
export type Rule = {
  readonly rule: RuleName;
  readonly passed: boolean;
  /** A sentence for people. It names no device but the one that asks. */
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
  const names = rulesByAction[action].filter((name) => name !== 'selfReset' || facts.isForCustomer);
  const rules = names.map((name): Rule => {
    const { reason, judge } = ruleBook[name];
    const [passed, detail] = judge(facts);
    return { rule: name, passed, detail, ...(!passed && { reason }) };
  });
  return { rules, refusal: rules.find(({ passed }) => !passed)?.reason ?? null };
}

interface RuleEntry {
  readonly reason: Reason;
  judge(facts: Facts): readonly [passed: boolean, detail: string];
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
    judge: ({ license: { activations, maxActivations }, hostId, holdsSlot }) =>
      holdsSlot ? [true, `${hostId} holds a slot already.`] : judgeLimit('slot', activations, maxActivations),
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
    judge: ({ license: { customerCanSelfReset: may } }) => [may, `Its customer may ${may ? '' : 'not '}move devices.`],
  },
  device: {
    reason: 'deviceNotFound',
    judge: ({ hostId, holdsSlot }) =>
      hostId === null
        ? [true, 'All devices are meant.']
        : [holdsSlot, `${hostId} holds ${holdsSlot ? 'a' : 'no'} slot.`],
  },
} as const satisfies Record<string, RuleEntry>;

export type RuleName = keyof typeof ruleBook;

/** Which rules stand in the way of what, in the order in which they are looked at. */
const rulesByAction = {
  activate: ['revocation', 'enabled', 'term', 'customer', 'host', 'slot'],
  sign: ['revocation', 'enabled', 'term', 'customer', 'host', 'slot'],
  checkout: ['type', 'revocation', 'enabled', 'term', 'customer', 'host', 'seat'],
  heartbeat: ['type', 'revocation', 'enabled', 'term', 'customer', 'host'],
  rebind: ['selfReset', 'revocation', 'enabled', 'term', 'customer', 'host'],
  deactivate: ['activated', 'device', 'selfReset'],
} as const satisfies Record<string, readonly RuleName[]>;

function describeTerm(license: License, now: Instant): string {
  const { expirationDate: end } = license;
  if (isWaiting(license)) return 'The first use sets the end of the licence.';
  if (end === null) return 'The licence never expires.';
  const until = termOf(license, now) === 'inGrace' ? `; it may be used until ${graceUntil(license)}` : '';
  return `The licence ${now < end ? 'expires' : 'expired'} at ${end}${until}.`;
}

const judgeLimit = (what: string, taken: number, most: number | null): [passed: boolean, detail: string] =>
  most === null
    ? [true, `The licence has any number of ${what}s.`]
    : [taken < most, `${taken} of ${most} ${what}s are taken.`];
