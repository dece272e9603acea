import { describe, expect, it } from 'vitest';
import type { Reason } from '../../src/contract/errors.ts';
import type { License } from '../../src/domain/license.ts';
import { type Action, decide, type Facts } from '../../src/domain/rules.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { hostId, licenseWith, now } from './examples.ts';

const past = addSeconds(now, -1);
const future = addSeconds(now, 1);

/** A host without a slot asks for a licence that anybody may use. */
const facts = (license: Partial<License> = {}, more: Partial<Omit<Facts, 'license'>> = {}): Facts => ({
  license: licenseWith(license),
  customer: null,
  hostId,
  holdsSlot: false,
  liveSessions: 0,
  hasPromise: false,
  maxMoves: null,
  now,
  ...more,
});

const day = { years: 0, months: 0, weeks: 0, days: 1, hours: 0, minutes: 0, seconds: 0 };

const active = { customer: { active: true } };
const inactive = { customer: { active: false } };
const nobody = { hostId: null };

const floating = { licenseType: 'floating', maxConcurrentSessions: 2 } as const;
const slot = { holdsSlot: true };
const customerOf = { ...slot, maxMoves: 3 };
/** A new host of the customer. */
const stranger = { maxMoves: 3 };
/** One of its two slots is promised to another host. */
const left = { maxActivations: 2, activations: 1, slotYear: 2026, promisedSlots: 1 };
const off = { customerCanSelfReset: false };

it.each<[Action, string, Facts, Reason | null]>([
  ...(['activate', 'sign'] as const).flatMap((action): [Action, string, Facts, Reason | null][] => [
    [action, 'a licence without limits', facts(), null],
    [action, 'a licence without a host', facts({}, nobody), null],
    [action, 'the licence of an active customer', facts({}, active), null],
    [action, 'a licence up to its expiry', facts({ expirationDate: future }), null],
    [action, 'a licence in its grace period', facts({ expirationDate: past, gracePeriod: day }), null],
    [action, 'a licence before its end is set', facts({ expiresAfter: day }), null],
    [action, 'a licence on an allowed host', facts({ allowedHosts: ['host-2', 'host-1'] }), null],
    [action, 'the last slot', facts({ maxActivations: 2, activations: 1 }), null],
    [action, 'the slot that a host holds', facts({ maxActivations: 1, activations: 1 }, slot), null],
    [action, 'a licence whose sessions are all taken', facts({ maxConcurrentSessions: 1 }, { liveSessions: 1 }), null],
    [action, 'a revoked licence', facts({ vendorDisabled: true, revokedAt: now }, slot), 'licenseRevoked'],
    [action, 'a disabled licence', facts({ vendorDisabled: true }, slot), 'licenseDisabled'],
    [action, 'an expired licence', facts({ expirationDate: now }, slot), 'licenseExpired'],
    [action, 'the licence of an inactive customer', facts({}, inactive), 'customerInactive'],
    [action, 'a licence on a host not on the list', facts({ allowedHosts: ['host-2'] }), 'deviceNotAllowed'],
    [action, 'a licence on a host in another case', facts({ allowedHosts: ['HOST-1'] }), 'deviceNotAllowed'],
    [action, 'a licence without a host when there is a list', facts({ allowedHosts: [] }, nobody), 'deviceNotAllowed'],
    [action, 'one slot too many', facts({ maxActivations: 2, activations: 2 }), 'activationLimit'],
    [action, 'a slot of a licence with too many', facts({ maxActivations: 2, activations: 3 }), 'activationLimit'],
  ]),
  ['checkout', 'the last seat', facts(floating, { liveSessions: 1 }), null],
  ['checkout', 'a seat without a limit', facts({ licenseType: 'floating' }, { liveSessions: 99 }), null],
  ['checkout', 'a seat where no slot is free', facts({ ...floating, maxActivations: 1, activations: 1 }), null],
  ['checkout', 'one seat too many', facts(floating, { liveSessions: 2 }), 'sessionLimit'],
  ['checkout', 'a seat of a node-locked licence', facts({ vendorDisabled: true }), 'wrongLicenseType'],
  ['heartbeat', 'a seat beyond the limit', facts(floating, { liveSessions: 3 }), null],
  ['deactivate', 'a device', facts({ activations: 1 }, slot), null],
  ['deactivate', 'all devices', facts({ activations: 1 }, nobody), null],
  ['deactivate', 'a device of an expired licence', facts({ activations: 1, expirationDate: past }, slot), null],
  ['deactivate', 'a licence without devices', facts(), 'notActivated'],
  ['deactivate', 'a disabled licence', facts({ activations: 1, vendorDisabled: true }, slot), 'notActivated'],
  ['deactivate', 'a host without a slot', facts({ activations: 1 }), 'deviceNotFound'],
  ['deactivate', 'a device for a customer who may not move slots', facts({ ...left, ...off }, customerOf), null],
  ['deactivate', 'a device after all moves of the year', facts({ ...left, moves: 3 }, customerOf), null],
  ...(['activate', 'sign'] as const).flatMap((action): [Action, string, Facts, Reason | null][] => [
    [action, 'a slot of another host', facts(left, stranger), null],
    [action, 'that after two moves', facts({ ...left, moves: 2 }, stranger), null],
    [action, 'that after three moves', facts({ ...left, moves: 3 }, stranger), 'rebindLimit'],
    [action, 'that after three moves of an earlier year', facts({ ...left, slotYear: 2025, moves: 3 }, stranger), null],
    [action, 'that where the customer may not', facts({ ...left, ...off }, stranger), 'selfResetOff'],
    [action, 'that by the vendor', facts({ ...left, ...off, moves: 3 }), null],
    [
      action,
      'the slot that is promised to it',
      facts({ ...left, ...off, moves: 3 }, { ...stranger, hasPromise: true }),
      null,
    ],
    [action, 'its slot', facts({ ...left, ...off, moves: 3 }, customerOf), null],
    [action, 'a slot beside a promised one', facts({ ...left, ...off, maxActivations: 3 }, stranger), null],
    [action, 'a slot that was promised last year', facts({ ...left, ...off, slotYear: 2025 }, stranger), null],
    [
      action,
      'a slot where all are taken',
      facts({ ...left, ...off, activations: 2, promisedSlots: 0 }, stranger),
      'activationLimit',
    ],
    [action, 'one of any number of slots', facts({ ...off, activations: 9, moves: 3 }, stranger), null],
  ]),
  ['rebind', 'a slot', facts({ maxActivations: 2, activations: 1 }, stranger), null],
  ['rebind', 'a slot where the customer may not', facts({ maxActivations: 2, ...off }, stranger), 'selfResetOff'],
  ['rebind', 'a slot after three moves', facts({ ...left, moves: 3 }, stranger), 'rebindLimit'],
  [
    'rebind',
    'a slot to a host that has one promised',
    facts({ ...left, ...off }, { ...stranger, hasPromise: true }),
    null,
  ],
  ['rebind', 'a slot by the vendor', facts({ ...left, ...off, moves: 3 }), null],
  ['rebind', 'one of any number of slots', facts({ ...off, moves: 3 }, stranger), null],
])('%s: %s', (action, _, given, refusal) => {
  expect(decide(action, given).refusal).toBe(refusal);
});

it('names the first of several reasons: type, disabled, expired, customer, device, limit', () => {
  const faults: Partial<License>[] = [
    { licenseType: 'node-locked' },
    { vendorDisabled: true },
    { expirationDate: past },
    {},
    { allowedHosts: [] },
    { maxConcurrentSessions: 0 },
  ];
  const reasons = faults.map((_, first) => {
    const license = Object.assign({ licenseType: 'floating' }, ...faults.slice(first));
    return decide('checkout', facts(license, first > 3 ? active : inactive)).refusal;
  });
  expect(reasons).toEqual([
    'wrongLicenseType',
    'licenseDisabled',
    'licenseExpired',
    'customerInactive',
    'deviceNotAllowed',
    'sessionLimit',
  ]);
});

describe('explains', () => {
  it('every rule in order, also those after the first that failed', () => {
    const license = { vendorDisabled: true, expirationDate: past, maxActivations: 1, activations: 1 };
    expect(decide('activate', facts(license, active)).rules).toEqual([
      { rule: 'revocation', passed: true, detail: 'The licence is not revoked.' },
      {
        rule: 'enabled',
        passed: false,
        detail: 'The vendor has disabled the licence.',
        reason: 'licenseDisabled',
      },
      { rule: 'term', passed: false, detail: `The licence expired at ${past}.`, reason: 'licenseExpired' },
      { rule: 'customer', passed: true, detail: 'Its customer is active.' },
      { rule: 'host', passed: true, detail: 'Any host may use the licence.' },
      { rule: 'slot', passed: false, detail: '1 of 1 slots are taken.', reason: 'activationLimit' },
    ]);
  });

  it.each<[Action, Facts, ...string[]]>([
    [
      'activate',
      facts({ ...left, moves: 1 }, stranger),
      '1 of 2 slots are taken, 1 promised to hosts that left them.',
      'Its customer may give a slot of another host to this one.',
      '2 of 3 moves of 2026 are left.',
    ],
    [
      'sign',
      facts({ ...left, ...off }, { ...stranger, hasPromise: true }),
      'A slot is promised to host-1.',
      'It takes no slot of another host.',
      '3 of 3 moves of 2026 are left.',
    ],
    [
      'deactivate',
      facts({ ...left, maxActivations: 2 }, customerOf),
      'host-1 holds a slot, which stays promised to it until 2026 ends.',
    ],
    ['deactivate', facts({ activations: 1 }, customerOf), 'host-1 holds a slot.'],
    ['deactivate', facts(left, slot), 'host-1 holds a slot.'],
    ['deactivate', facts({ ...left, allowedHosts: ['host-2'] }, customerOf), 'host-1 holds a slot.'],
  ])('what is promised, and how many moves are left: %s %#', (action, given, ...details) => {
    expect(
      decide(action, given)
        .rules.slice(-details.length)
        .map(({ detail }) => detail),
    ).toEqual(details);
  });

  it.each([
    ['The licence never expires.', facts()],
    ['The first use sets the end of the licence.', facts({ expiresAfter: day })],
    [
      `The licence expired at ${past}; it may be used until ${addSeconds(past, 86_400)}.`,
      facts({ expirationDate: past, gracePeriod: day }),
    ],
  ])('the term: %s', (detail, given) => {
    expect(decide('sign', given).rules[2]).toEqual({ rule: 'term', passed: true, detail });
  });
});
