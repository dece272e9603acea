import { describe, expect, it } from 'vitest';
import { runBulkPlan } from '../../faults/bulk/run.ts';
import { createRandom } from '../../faults/random.ts';

describe('a bulk command that is killed, and whose server is killed', () => {
  it.each([
    ['keys create', 600],
    ['keys import', 300],
  ] as const)(
    '%s: every row is there once, and the last run once more prints the same',
    async (command, rows) => {
      const plan = { command, rows, kills: 3, serverKills: 1, rateLimit: 20_000 };
      const { wrong } = await runBulkPlan({ ...plan, random: createRandom(7), say: () => {} });
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});
