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

/** What the rules say: each in order, and the reason of the first that failed, or null. */
export interface Decision {
  readonly rules: readonly Rule[];
  readonly refusal: Reason | null;
}

/**
 * Decides whether the licence may be used in this way, and explains it. The rules on slots and seats tell what is free
 * now; the store takes one by a single statement, so that a race cannot take more.
 * Source: API description, POST /key/sign, POST /deactivate-key and "Errors", 403; decision 0009.
 */
export function decide(action: Action, facts: Facts): Decision {
  const names = rulesByAction[action].filter((name) => name !== 'selfReset' || facts.isForCustomer);
  const rules = names.map((name): Rule => {
    const { reason, judge } = ruleBook[name];
    const { passed, detail } = judge(facts);
    return { rule: name, passed, detail, ...(!passed && { reason }) };
  });
  return { rules, refusal: rules.find(({ passed }) => !passed)?.reason ?? null };
}

interface Verdict {
  readonly passed: boolean;
  readonly detail: string;
}

interface RuleEntry {
  readonly reason: Reason;
  judge(facts: Facts): Verdict;
}

const when = (passed: boolean, yes: string, no: string): Verdict => ({ passed, detail: passed ? yes : no });

const ruleBook = {
  type: {
    reason: 'wrongLicenseType',
    judge: ({ license: { licenseType } }) =>
      when(licenseType === 'floating', 'The licence is floating.', 'The licence is node-locked: it has no sessions.'),
  },
  enabled: {
    reason: 'licenseDisabled',
    judge: ({ license: { vendorDisabled } }) =>
      when(!vendorDisabled, 'The vendor has not disabled the licence.', 'The vendor has disabled the licence.'),
  },
  term: { reason: 'licenseExpired', judge: judgeTerm },
  customer: {
    reason: 'customerInactive',
    judge: ({ customer }) =>
      customer === null
        ? { passed: true, detail: 'The licence has no customer.' }
        : when(customer.active, 'Its customer is active.', 'Its customer is not active.'),
  },
  host: { reason: 'deviceNotAllowed', judge: judgeHost },
  slot: { reason: 'activationLimit', judge: judgeSlot },
  seat: {
    reason: 'sessionLimit',
    judge: ({ license: { maxConcurrentSessions: most }, liveSessions }) => judgeLimit('seat', liveSessions, most),
  },
  activated: {
    reason: 'notActivated',
    judge: ({ license }) =>
      when(
        isActivated(license),
        'The licence is activated.',
        'The licence has no device, or the vendor has disabled it.',
      ),
  },
  selfReset: {
    reason: 'selfResetOff',
    judge: ({ license: { customerCanSelfReset } }) =>
      when(customerCanSelfReset, 'Its customer may move devices.', 'Its customer may not move devices.'),
  },
  device: {
    reason: 'deviceNotFound',
    judge: ({ hostId, holdsSlot }) =>
      hostId === null
        ? { passed: true, detail: 'All devices are meant.' }
        : when(holdsSlot, `${hostId} holds a slot.`, `${hostId} holds no slot.`),
  },
} as const satisfies Record<string, RuleEntry>;

export type RuleName = keyof typeof ruleBook;

/** Which rules stand in the way of what, in the order in which they are looked at. */
const rulesByAction = {
  activate: ['enabled', 'term', 'customer', 'host', 'slot'],
  sign: ['enabled', 'term', 'customer', 'host', 'slot'],
  checkout: ['type', 'enabled', 'term', 'customer', 'host', 'seat'],
  heartbeat: ['type', 'enabled', 'term', 'customer', 'host'],
  rebind: ['selfReset', 'enabled', 'term', 'customer', 'host'],
  deactivate: ['activated', 'device', 'selfReset'],
} as const satisfies Record<string, readonly RuleName[]>;

function judgeTerm({ license, now }: Facts): Verdict {
  const { expirationDate: end } = license;
  if (isWaiting(license)) return { passed: true, detail: 'The first use sets the end of the licence.' };
  if (end === null) return { passed: true, detail: 'The licence never expires.' };
  const term = termOf(license, now);
  if (term === 'inGrace') {
    return { passed: true, detail: `The licence expired at ${end}; it may be used until ${graceUntil(license)}.` };
  }
  return when(term === 'running', `The licence expires at ${end}.`, `The licence expired at ${end}.`);
}

function judgeHost({ license: { allowedHosts }, hostId }: Facts): Verdict {
  if (allowedHosts === null) return { passed: true, detail: 'Any host may use the licence.' };
  if (hostId === null) return { passed: false, detail: 'Only some hosts may use the licence, and none is named.' };
  return when(allowedHosts.includes(hostId), `${hostId} is an allowed host.`, `${hostId} is not an allowed host.`);
}

function judgeSlot({ license: { activations, maxActivations }, hostId, holdsSlot }: Facts): Verdict {
  if (holdsSlot) return { passed: true, detail: `${hostId} holds a slot already.` };
  return judgeLimit('slot', activations, maxActivations);
}

function judgeLimit(what: string, taken: number, most: number | null): Verdict {
  if (most === null) return { passed: true, detail: `The licence has any number of ${what}s.` };
  return when(
    taken < most,
    `${taken} of ${most} ${what}s are taken.`,
    `No ${what} is free: ${taken} of ${most} are taken.`,
  );
}
