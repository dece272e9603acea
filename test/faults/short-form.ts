import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, openCluster } from '../../faults/cluster.ts';
import { hasFailed, type Report } from '../../faults/report.ts';
import { sabotages } from '../../faults/sabotage.ts';
import type { Run } from '../../faults/scenario.ts';
import { plan } from '../../faults/scenarios/index.ts';
import type { Engine } from '../../faults/world.ts';

const SECONDS = 25;

const TIMEOUT_MS = 150_000;

/** A control ends with its first failure, which is soon on a machine that has the time. */
const CONTROL_ROUNDS = 60;
const CONTROL_SECONDS = 150;
const CONTROL_TIMEOUT_MS = 240_000;

/** Any will do; a failing one is kept in its own test. */
const SEED = 20_261_121;

/** A few rounds of every scenario of an engine: nothing is lost, doubled, over-activated or answered wrongly. */
export function testScenarios(engine: Engine): void {
  const cluster = useCluster(engine);
  for (const { scenario, shortRounds } of plan.filter(({ scenario }) => scenario.engines.includes(engine))) {
    test(`${scenario.about}: each acknowledged effect is there, once`, { timeout: TIMEOUT_MS }, async ({ skip }) => {
      const run: Run = {
        engine,
        cluster: cluster(),
        seed: SEED,
        rounds: shortRounds,
        seconds: SECONDS,
        sabotage: null,
      };
      const lacking = scenario.lacks(run);
      if (lacking !== null) skip(lacking);

      const report = await scenario.run(run);
      const { lost, doubled, overActivated, wrong, notes } = report;
      expect({ lost, doubled, overActivated, wrong, notes: hasFailed(report) ? notes : [] }).toEqual({
        lost: 0,
        doubled: 0,
        overActivated: 0,
        wrong: 0,
        notes: [],
      });
      expect(report.acknowledged).toBeGreaterThan(0);
    });
  }
}

/** The same with a protection taken away: the checks notice. Of all scenarios, or of those that are wanted. */
export function testControls(engine: Engine, isWanted: (name: string) => boolean = () => true): void {
  const cluster = useCluster(engine);
  for (const { scenario } of plan.filter(({ scenario }) => isWanted(scenario.name))) {
    for (const { sabotage } of scenario.controls.filter((control) => control.engine === engine)) {
      test(`${scenario.name} fails when ${sabotages[sabotage]}`, { timeout: CONTROL_TIMEOUT_MS }, async ({ skip }) => {
        const limits = { rounds: CONTROL_ROUNDS, seconds: CONTROL_SECONDS };
        const run: Run = { engine, cluster: cluster(), seed: SEED, ...limits, sabotage };
        const lacking = scenario.lacks(run);
        if (lacking !== null) skip(lacking);

        expect(await scenario.run(run)).toSatisfy((report: Report) => hasFailed(report));
      });
    }
  }
}

function useCluster(engine: Engine): () => Cluster | null {
  let cluster: Cluster | null = null;
  beforeAll(async () => {
    if (engine === 'postgres') cluster = await openCluster();
  });
  afterAll(() => cluster?.close());
  return () => cluster;
}
