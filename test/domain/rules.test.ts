import { describe, expect, it } from 'vitest';
import type { Reason } from '../../src/contract/errors.ts';
import type { License } from '../../src/domain/license.ts';
import { type Action, decide, type Facts } from '../../src/domain/rules.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { hostId, licenseWith, now } from './examples.ts';

const past = addSeconds(now, -1);

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

const slot = { holdsSlot: true };
const customerOf = { ...slot, maxMoves: 3 };
/** A new host of the customer. */
const stranger = { maxMoves: 3 };
/** One of its two slots is promised to another host. */
const left = { maxActivations: 2, activations: 1, slotYear: 2026, promisedSlots: 1 };
const off = { customerCanSelfReset: false };

it.each<[Action, string, Facts, Reason | null]>([
  ['activate', 'its own slot after all moves', facts({ ...left, ...off, moves: 3 }, customerOf), null],
  [
    'activate',
    'a licence without a host when there is a list',
    facts({ allowedHosts: [] }, { hostId: null }),
    'deviceNotAllowed',
  ],
  ['deactivate', 'a device of an expired licence', facts({ activations: 1, expirationDate: past }, slot), null],
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
