import { Unprepared } from './ledger.ts';
import { createRandom, type Random } from './random.ts';
import { fail, hasFailed, newReport, type Report } from './report.ts';
import type { Sabotage } from './sabotages.ts';
import { isFull, type Stage, setStage } from './stage.ts';
import { type Cluster, type Engine, makeWorld, type World } from './world.ts';

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
  readonly controls: readonly (readonly [Sabotage, Engine])[];
  /** Its share of the time of a whole run. */
  readonly share: number;
  /** The rounds of its short form. */
  readonly shortRounds: number;
  /** What has to have been counted once within so many rounds; else nothing was tried. */
  readonly tries?: { readonly what: string; readonly rounds: number };
  /** What this machine lacks for it; null when it can run. */
  lacks?(cluster: Cluster | null): string | null;
  newWorld?(engine: Engine, cluster: Cluster | null): Promise<World>;
  /** Begins a run; the function that it makes plays a round. */
  begin(): (round: Round) => Promise<void>;
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
export async function runScenario(scenario: Scenario, run: Run): Promise<Report> {
  const { name, tries, newWorld = makeWorld } = scenario;
  const report = newReport(name, run.engine);
  const random = createRandom(run.seed);
  const play = scenario.begin();
  const newStage = async () => setStage(run, await newWorld(run.engine, run.cluster));
  const end = performance.now() + run.seconds * 1_000;
  let stage = await newStage();
  try {
    for (let index = 0; index < run.rounds && (index === 0 || performance.now() < end); index += 1) {
      if (isFull(stage)) {
        await stage.close(report);
        stage = await newStage();
      }
      await play({ run, stage, report, random, index }).catch((error: unknown) => {
        if (!(error instanceof Unprepared)) throw error;
        fail(report, 'wrong', `what the round needs could not be made: ${error.message}`);
      });
      await stage.check(report);
      report.rounds += 1;
      if (run.sabotage !== null && hasFailed(report)) break;
    }
  } finally {
    await stage.close(report);
  }
  if (tries !== undefined && report.rounds >= tries.rounds && (report.counts.get(tries.what) ?? 0) === 0) {
    fail(report, 'wrong', `nothing was tried: no ${tries.what}`);
  }
  return report;
}
