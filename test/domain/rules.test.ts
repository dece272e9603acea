import { describe, expect, it } from 'vitest';
import type { Reason } from '../../src/contract/errors.ts';
import type { HostId } from '../../src/contract/scalars.ts';
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
  isForCustomer: false,
  now,
  ...more,
});

const day = { years: 0, months: 0, weeks: 0, days: 1, hours: 0, minutes: 0, seconds: 0 };

const active = { customer: { active: true } };
const inactive = { customer: { active: false } };
const nobody = { hostId: null };

describe.each<Action>(['activate', 'sign'])('to %s', (action) => {
  it.each<[string, Facts, Reason | null]>([
    ['lets a licence without limits be used', facts(), null],
    ['lets it be used without a host', facts({}, nobody), null],
    ['lets an active customer use it', facts({}, active), null],
    ['lets it be used up to its expiry', facts({ expirationDate: future }), null],
    ['lets it be used in its grace period', facts({ expirationDate: past, gracePeriod: day }), null],
    ['lets it be used before its end is set', facts({ expiresAfter: day }), null],
    ['lets an allowed host use it', facts({ allowedHosts: ['host-2', 'host-1'] }), null],
    ['lets the last slot be taken', facts({ maxActivations: 2, activations: 1 }), null],
    ['lets a host that holds a slot keep it', facts({ maxActivations: 1, activations: 1 }, { holdsSlot: true }), null],
    ['does not look at sessions', facts({ maxConcurrentSessions: 1 }, { liveSessions: 1 }), null],
    ['refuses a disabled licence', facts({ vendorDisabled: true }, { holdsSlot: true }), 'licenseDisabled'],
    ['refuses an expired licence', facts({ expirationDate: now }, { holdsSlot: true }), 'licenseExpired'],
    ['refuses the licence of an inactive customer', facts({}, inactive), 'customerInactive'],
    ['refuses a host not on the list', facts({ allowedHosts: ['host-2'] }), 'deviceNotAllowed'],
    ['compares hosts with their case', facts({ allowedHosts: ['HOST-1'] }), 'deviceNotAllowed'],
    ['refuses any host when the list is empty', facts({ allowedHosts: [] }), 'deviceNotAllowed'],
    [
      'refuses use without a host when there is a list',
      facts({ allowedHosts: ['host-1'] }, nobody),
      'deviceNotAllowed',
    ],
    ['refuses when no slot is free', facts({ maxActivations: 2, activations: 2 }), 'activationLimit'],
    [
      'refuses when more slots are taken than there are',
      facts({ maxActivations: 2, activations: 3 }),
      'activationLimit',
    ],
  ])('%s', (_, given, refusal) => {
    expect(decide(action, given).refusal).toBe(refusal);
  });
});

describe('to check out', () => {
  const floating = { licenseType: 'floating', maxConcurrentSessions: 2 } as const;

  it.each<[string, Facts, Reason | null]>([
    ['lets the last seat be taken', facts(floating, { liveSessions: 1 }), null],
    ['lets any number in without a limit', facts({ licenseType: 'floating' }, { liveSessions: 99 }), null],
    ['does not look at slots', facts({ ...floating, maxActivations: 1, activations: 1 }), null],
    ['refuses when no seat is free', facts(floating, { liveSessions: 2 }), 'sessionLimit'],
    ['refuses a node-locked licence before all else', facts({ vendorDisabled: true }), 'wrongLicenseType'],
  ])('%s', (_, given, refusal) => {
    expect(decide('checkout', given).refusal).toBe(refusal);
  });

  it('a session that has its seat does not lose it to the limit', () => {
    expect(decide('heartbeat', facts(floating, { liveSessions: 3 })).refusal).toBeNull();
  });
});

describe('to deactivate', () => {
  it.each<[string, Facts, Reason | null]>([
    ['lets a device go', facts({ activations: 1 }, { holdsSlot: true }), null],
    ['lets all devices go', facts({ activations: 1 }, nobody), null],
    [
      'lets a device of an expired licence go',
      facts({ activations: 1, expirationDate: past }, { holdsSlot: true }),
      null,
    ],
    ['refuses a licence without devices', facts(), 'notActivated'],
    [
      'refuses a disabled licence',
      facts({ activations: 1, vendorDisabled: true }, { holdsSlot: true }),
      'notActivated',
    ],
    ['refuses a host without a slot', facts({ activations: 1 }), 'deviceNotFound'],
    [
      'refuses a customer who may not',
      facts({ activations: 1 }, { holdsSlot: true, isForCustomer: true }),
      'selfResetOff',
    ],
    [
      'lets a customer who may',
      facts({ activations: 1, customerCanSelfReset: true }, { holdsSlot: true, isForCustomer: true }),
      null,
    ],
  ])('%s', (_, given, refusal) => {
    expect(decide('deactivate', given).refusal).toBe(refusal);
  });
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

  it.each<[Action, Facts, readonly string[]]>([
    [
      'checkout',
      facts(
        { licenseType: 'floating', expirationDate: future, maxConcurrentSessions: 3 },
        { ...inactive, liveSessions: 1 },
      ),
      [
        'The licence is floating.',
        'The vendor has not disabled the licence.',
        `The licence expires at ${future}.`,
        'Its customer is not active.',
        'Any host may use the licence.',
        '1 of 3 seats are taken.',
      ],
    ],
    [
      'sign',
      facts({ allowedHosts: ['host-1', 'host-2'] }, { holdsSlot: true }),
      [
        'The vendor has not disabled the licence.',
        'The licence never expires.',
        'The licence has no customer.',
        'host-1 is an allowed host.',
        'host-1 holds a slot already.',
      ],
    ],
    [
      'activate',
      facts({ allowedHosts: ['host-2'] }, { hostId: 'host-9' as HostId }),
      [
        'The vendor has not disabled the licence.',
        'The licence never expires.',
        'The licence has no customer.',
        'host-9 is not an allowed host.',
        'The licence has any number of slots.',
      ],
    ],
    [
      'rebind',
      facts({ expirationDate: past, gracePeriod: day }),
      [
        'The vendor has not disabled the licence.',
        `The licence expired at ${past}; it may be used until ${addSeconds(past, 86_400)}.`,
        'The licence has no customer.',
        'Any host may use the licence.',
      ],
    ],
    [
      'rebind',
      facts({ expiresAfter: day }),
      [
        'The vendor has not disabled the licence.',
        'The first use sets the end of the licence.',
        'The licence has no customer.',
        'Any host may use the licence.',
      ],
    ],
    ['deactivate', facts(), ['The licence is not activated.', 'host-1 holds no slot.']],
    ['deactivate', facts({ activations: 2 }, nobody), ['The licence is activated.', 'All devices are meant.']],
  ])('why one may %s or may not', (action, given, details) => {
    expect(decide(action, given).rules.map(({ detail }) => detail)).toEqual(details);
  });
});
