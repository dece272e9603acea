import { expect, it } from 'vitest';
import { createGiveWay } from '../../../src/server/webhooks/deliverer.ts';

it.each([
  ['one after the other on a server that is busy with requests', 8, 75, 1_000],
  ['at once on any other', 7, 0, 20],
])('batches are sent %s', async (_, running, atLeastMs, belowMs) => {
  const giveWay = createGiveWay({ load: () => ({ running, waiting: 0 }) });
  const started = performance.now();
  await Promise.all([1, 2, 3, 4].map(giveWay));
  expect(performance.now() - started).toBeGreaterThanOrEqual(atLeastMs);
  expect(performance.now() - started).toBeLessThan(belowMs);
});
