import { describe, expect, it } from 'vitest';
import { runBulkPlan } from '../../faults/bulk/run.ts';
import { createRandom } from '../../faults/random.ts';

describe('a bulk command that is killed, and whose server is killed', () => {
  it.each([
    ['keys create', 1_500],
    ['keys import', 800],
  ] as const)(
    '%s: every row is there once, and the last run once more prints the same',
    async (command, rows) => {
      const plan = { command, rows, kills: 4, serverKills: 1, rateLimit: 30_000 };
      const { wrong } = await runBulkPlan({ ...plan, random: createRandom(7), say: () => {} });
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});
