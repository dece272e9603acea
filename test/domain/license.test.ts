import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { defaultExpiry, isActivated } from '../../src/domain/license.ts';

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
