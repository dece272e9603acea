import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasFailed, type Report } from '../../faults/report.ts';
import { sabotages } from '../../faults/sabotages.ts';
import { runScenario } from '../../faults/scenario.ts';
import { plan } from '../../faults/scenarios/index.ts';
import { type Cluster, type Engine, openCluster } from '../../faults/world.ts';

/** A control ends with its first failure, which is soon on a machine that has the time. */
const CONTROL = { rounds: 60, seconds: 150 };

/** Any will do; a failing one is kept in its own test. */
const SEED = 20_261_121;

/** A few rounds of every scenario of an engine: nothing is lost, doubled, over-activated or answered wrongly. */
export function testScenarios(engine: Engine): void {
  const cluster = useCluster(engine);
  for (const scenario of plan.filter(({ engines }) => engines.includes(engine))) {
    test(`${scenario.about}: each acknowledged effect is there, once`, { timeout: 150_000 }, async ({ skip }) => {
      const lacking = scenario.lacks?.(cluster()) ?? null;
      if (lacking !== null) skip(lacking);
      const limits = { rounds: scenario.shortRounds, seconds: 25 };
      const base = { engine, cluster: cluster(), seed: SEED, sabotage: null };
      const { lost, doubled, overActivated, wrong, notes, acknowledged } = await runScenario(scenario, {
        ...base,
        ...limits,
      });
      const failures = { lost, doubled, overActivated, wrong, notes };
      expect(failures).toEqual({ lost: 0, doubled: 0, overActivated: 0, wrong: 0, notes: [] });
      expect(acknowledged).toBeGreaterThan(0);
    });
  }
}

/** The same with one of its protections taken away: the checks notice. */
export function testControls(engine: Engine): void {
  const cluster = useCluster(engine);
  for (const scenario of plan) {
    const [sabotage] = scenario.controls.find(([, one]) => one === engine) ?? [];
    if (sabotage !== undefined) {
      test(`${scenario.name} fails when ${sabotages[sabotage].about}`, { timeout: 240_000 }, async ({ skip }) => {
        const lacking = scenario.lacks?.(cluster()) ?? null;
        if (lacking !== null) skip(lacking);
        const report = await runScenario(scenario, { engine, cluster: cluster(), seed: SEED, ...CONTROL, sabotage });
        expect(report).toSatisfy((one: Report) => hasFailed(one));
      });
    }
  }
}

function useCluster(engine: Engine): () => Cluster | null {
  let cluster: Cluster | null = null;
  beforeAll(async () => {
    if (engine === 'postgres') cluster = await openCluster();
  });
  afterAll(() => cluster?.stop());
  return () => cluster;
}
