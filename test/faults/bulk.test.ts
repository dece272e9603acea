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
      const { wrong, kills } = await runBulkPlan({ ...plan, random: createRandom(7), say: () => {} });
      expect(wrong).toEqual([]);
      expect(kills).toBeGreaterThan(0);
    },
    120_000,
  );

  it('is found out when it ends before it is killed', async () => {
    const random = { ...createRandom(7), between: () => 100_000 };
    const plan = { command: 'keys create', rows: 1, kills: 1, serverKills: 0, rateLimit: 20_000 } as const;
    const { kills, wrong } = await runBulkPlan({ ...plan, random, say: () => {} });
    expect({ kills, wrong }).toEqual({ kills: 0, wrong: ['the command was never killed: give more rows'] });
  }, 60_000);
});
