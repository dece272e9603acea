import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { createRandom, type Random } from './random.ts';
import { hasFailed, newReport, type Report } from './report.ts';
import type { Sabotage } from './sabotage.ts';
import { isFull, type Stage, setStage } from './stage.ts';
import { type Engine, makeWorld, type World } from './world.ts';

/** How a scenario is to run: until `rounds` or `seconds` are over, whichever is first. */
export interface Run {
  readonly engine: Engine;
  /** Needed by whatever runs on PostgreSQL. */
  readonly cluster: Cluster | null;
  readonly seed: number;
  readonly rounds: number;
  readonly seconds: number;
  /** The protection that is taken away; null leaves all in place. */
  readonly sabotage: Sabotage | null;
}

/** One kind of fault, and the controls that show that its checks can fail. */
export interface Scenario {
  readonly name: string;
  /** What is done, in a line. */
  readonly about: string;
  readonly engines: readonly Engine[];
  /** Each takes one protection away and must make the same checks fail. */
  readonly controls: readonly { readonly sabotage: Sabotage; readonly engine: Engine }[];
  /** What this machine lacks for it; null when it can run. */
  lacks(run: Pick<Run, 'engine' | 'cluster'>): string | null;
  run(run: Run): Promise<Report>;
}

/** What a round has to work with. */
export interface Round {
  readonly run: Run;
  readonly stage: Stage;
  readonly report: Report;
  readonly random: Random;
  readonly index: number;
}

/**
 * Runs rounds until their number or the time is reached. After each round the ledger is compared with the database. A
 * stage that is full is replaced by a new one. With a protection taken away, the first failure ends the run.
 */
export async function inRounds(
  scenario: Pick<Scenario, 'name'>,
  run: Run,
  play: (round: Round) => Promise<void>,
  newWorld: () => Promise<World> = () => makeWorld(run.engine, run.cluster),
): Promise<Report> {
  const report = newReport(scenario.name, run.engine, run.seed);
  const random = createRandom(run.seed);
  const end = performance.now() + run.seconds * 1_000;
  let stage = await setStage(run, await newWorld());
  try {
    for (let index = 0; index < run.rounds && (index === 0 || performance.now() < end); index += 1) {
      if (isFull(stage)) {
        await stage.close(report);
        stage = await setStage(run, await newWorld());
      }
      await play({ run, stage, report, random, index });
      await stage.check(report);
      report.rounds += 1;
      if (run.sabotage !== null && hasFailed(report)) break;
    }
  } finally {
    await stage.close(report);
  }
  return report;
}

/** What a round has to work with that checks its world itself. */
export interface WorldRound extends Omit<Round, 'stage'> {
  readonly world: World;
  /** A folder of its own, gone after the round. */
  readonly folder: string;
}

/** Runs rounds, each in a new world, until their number or the time is reached. */
export async function inWorlds(
  scenario: Pick<Scenario, 'name'>,
  run: Run,
  play: (round: WorldRound) => Promise<void>,
): Promise<Report> {
  const report = newReport(scenario.name, run.engine, run.seed);
  const random = createRandom(run.seed);
  const end = performance.now() + run.seconds * 1_000;
  for (let index = 0; index < run.rounds && (index === 0 || performance.now() < end); index += 1) {
    const world = await makeWorld(run.engine, run.cluster);
    const folder = mkdtempSync(join(tmpdir(), 'lkm-faults-home-'));
    try {
      await play({ run, world, folder, report, random, index });
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await world.remove();
    }
    report.rounds += 1;
    if (run.sabotage !== null && hasFailed(report)) break;
  }
  return report;
}
