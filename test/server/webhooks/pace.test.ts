import { describe, expect, it } from 'vitest';
import { createPace } from '../../../src/server/webhooks/pace.ts';

/** A pace on a server that works for so large a share of its time, and ends so many requests between two looks. */
function paceOf(share: number, requests: number) {
  let finished = 0;
  return createPace({ load: () => ({ running: 0, waiting: 0, finished }) }, () => {
    finished += requests;
    return share;
  });
}

const never = new AbortController().signal;

/** How many of 30 batches of 16 may be sent within 200 ms. */
async function countSent(pace: ReturnType<typeof createPace>): Promise<number> {
  const end = new AbortController();
  let sent = 0;
  const batches = Array.from({ length: 30 }, () =>
    pace.take(16, 60_000, end.signal).then(() => {
      if (!end.signal.aborted) sent += 1;
    }),
  );
  setTimeout(() => end.abort(), 200);
  await Promise.all(batches);
  return sent;
}

describe('the pace of deliveries', () => {
  it.each([
    ['without requests', 1, 0],
    ['with few requests', 1, 3],
    ['with time to spare', 0.8, 32],
  ])('has no bound %s', async (_, share, requests) => {
    expect(await countSent(paceOf(share, requests))).toBe(30);
  });

  it('is one event for eight requests on a server that is busy with them', async () => {
    // About 20 looks, of 32 requests each: 80 events, and the first looks until it is known that it is busy.
    expect(await countSent(paceOf(1, 32))).toSatisfy((sent: number) => sent >= 1 && sent <= 10);
  });

  it('lets what has waited long enough go', async () => {
    const pace = paceOf(1, 4);
    const started = performance.now();
    await Promise.all(Array.from({ length: 40 }, () => pace.take(16, 100, never)));
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
