import { expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { leaseEnd } from '../../src/domain/lease.ts';

it('ends a lease its number of seconds later', () => {
  expect(leaseEnd('2026-11-21T23:50:00.900Z' as Instant, 900)).toBe('2026-11-22T00:05:00.900Z');
});
