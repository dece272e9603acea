import { describe, expect, it } from 'vitest';
import { createRandom } from '../../faults/random.ts';
import { runTail } from '../../faults/tail/run.ts';

const plan = { rate: 100, random: createRandom(7), say: () => {} };

describe('lkm events tail, piped to a program, killed and started again behind its last line', () => {
  it('writes each event once and in order, also when its server is killed', async () => {
    const { wrong, events, lines, kills } = await runTail({ ...plan, seconds: 18, kills: 4, serverKills: 1 });
    expect({ wrong, lines, kills }).toEqual({ wrong: [], lines: events, kills: 4 });
    expect(events).toBeGreaterThan(100);
  }, 90_000);

  it('is found out when it begins an event too late', async () => {
    const { wrong } = await runTail({ ...plan, seconds: 8, kills: 2, serverKills: 0, skips: 1 });
    expect(wrong).toContainEqual(expect.stringMatching(/^event \d+ came after \d+$/));
  }, 60_000);
});
