import { describe, expect, it } from 'vitest';
import type { Reason } from '../../src/contract/errors.ts';
import type { HostId, Instant } from '../../src/contract/scalars.ts';
import { defaultExpiry, isActivated, isExpired, type License, refusalToUse } from '../../src/domain/license.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { hostId, licenseWith, now } from './examples.ts';

const past = addSeconds(now, -1);
const future = addSeconds(now, 1);

describe('defaultExpiry', () => {
  it('is a calendar month later', () => {
    expect(defaultExpiry('2028-01-31T10:00:00.900Z' as Instant)).toBe('2028-02-29T10:00:00.900Z');
  });
});

describe('isActivated', () => {
  it.each([
    [0, false, false],
    [1, false, true],
    [2, true, false],
  ])('with %d devices and vendorDisabled %s is %s', (activations, vendorDisabled, answer) => {
    expect(isActivated({ activations, vendorDisabled })).toBe(answer);
  });
});

describe('isExpired', () => {
  it.each([
    [null, false],
    [future, false],
    ['2026-11-21T10:00:00.901Z' as Instant, false],
    [now, true],
    [past, true],
  ])('with expiry %s is %s', (expirationDate, answer) => {
    expect(isExpired({ expirationDate }, now)).toBe(answer);
  });
});

describe('refusalToUse', () => {
  it.each<[string, Partial<License>, boolean, string | null, Reason | null]>([
    ['lets a licence without limits be used', {}, true, 'host-1', null],
    ['lets it be used without a host', {}, true, null, null],
    ['does not look at the number of devices', { maxActivations: 1, activations: 1 }, true, 'host-1', null],
    ['lets a licence be used up to its expiry', { expirationDate: future }, true, 'host-1', null],
    ['lets an allowed host use it', { allowedHosts: ['host-2', 'host-1'] }, true, 'host-1', null],
    ['refuses a disabled licence', { vendorDisabled: true }, true, 'host-1', 'licenseDisabled'],
    ['refuses an expired licence', { expirationDate: now }, true, 'host-1', 'licenseExpired'],
    ['refuses the licence of an inactive customer', {}, false, 'host-1', 'customerInactive'],
    ['refuses a host not on the list', { allowedHosts: ['host-2'] }, true, 'host-1', 'deviceNotAllowed'],
    ['compares hosts with their case', { allowedHosts: ['HOST-1'] }, true, 'host-1', 'deviceNotAllowed'],
    ['refuses any host when the list is empty', { allowedHosts: [] }, true, 'host-1', 'deviceNotAllowed'],
    ['refuses use without a host when there is a list', { allowedHosts: ['host-1'] }, true, null, 'deviceNotAllowed'],
  ])('%s', (_, changes, customerActive, host, reason) => {
    expect(refusalToUse(licenseWith(changes), { customerActive, hostId: host as HostId | null, now })).toBe(reason);
  });

  it('names the first of several reasons: disabled, expired, customer, device', () => {
    const faults: Partial<License>[] = [{ vendorDisabled: true }, { expirationDate: past }, {}, { allowedHosts: [] }];
    const reasons = faults.map((_, first) =>
      refusalToUse(licenseWith(Object.assign({}, ...faults.slice(first))), { customerActive: first > 2, hostId, now }),
    );
    expect(reasons).toEqual(['licenseDisabled', 'licenseExpired', 'customerInactive', 'deviceNotAllowed']);
  });
});
