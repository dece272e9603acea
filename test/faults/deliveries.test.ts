import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, openCluster } from '../../faults/cluster.ts';
import { runDeliveries } from '../../faults/deliveries/run.ts';
import { createRandom } from '../../faults/random.ts';
import { hasFailed } from '../../faults/report.ts';
import type { Sabotage } from '../../faults/sabotage.ts';
import type { Engine } from '../../faults/world.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openCluster();
});
afterAll(() => cluster?.close());

const deliver = (engine: Engine, sabotage: Sabotage | null) =>
  runDeliveries({
    engine,
    cluster: engine === 'postgres' ? cluster : null,
    ...{ events: 250, kills: 2, restarts: engine === 'postgres' && cluster.restart !== null ? 1 : 0 },
    ...{
      seed: 7,
      random: createRandom(7),
      ...(sabotage === null ? { maxSeconds: 60, settleSeconds: 60 } : { maxSeconds: 20, settleSeconds: 3 }),
    },
    sabotage,
    say: () => {},
  });

describe('events on their way to a receiver that does everything wrong, while servers are killed', () => {
  it.each<Engine>(['sqlite', 'postgres'])(
    'are all delivered, with one id each: %s',
    async (engine) => {
      const { report, missing, kills, events } = await deliver(engine, null);
      expect({ missing, kills, events, notes: report.notes }).toEqual({ missing: 0, kills: 2, events: 251, notes: [] });
    },
    120_000,
  );

  it('are not, when a refused connection counts as the end of an event', async () => {
    const { report, missing } = await deliver('sqlite', 'refused-is-final');
    expect({ hasFailed: hasFailed(report), isMissing: missing > 0 }).toEqual({ hasFailed: true, isMissing: true });
  }, 120_000);
});
