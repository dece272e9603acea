import { endUnavailable } from '../test/support/postgres-server.ts';
import { openCluster } from './cluster.ts';
import { bound95, hasFailed, type Report } from './report.ts';
import { sabotages } from './sabotage.ts';
import { clock } from './scenarios/clock.ts';
import { plan } from './scenarios/index.ts';

// Runs every scenario on every engine it knows, then each again with a protection taken away, which must fail. Ends
// with 1 when anything was lost, doubled, over-activated or answered wrongly, or when a control passed.

const seconds = Number(process.env.LKM_FAULT_SECONDS ?? 1_200);
const seed = Number(process.env.LKM_FAULT_SEED ?? Date.now() % 1_000_000);
const only = process.env.LKM_FAULT_SCENARIO;

/** The controls end with their first failure, which comes soon. */
const CONTROLS_SHARE = 0.15;
const CONTROL_SECONDS = 60;

const parts = plan
  .filter(({ scenario }) => only === undefined || scenario.name === only)
  .flatMap(({ scenario, share }) => scenario.engines.map((engine) => ({ scenario, engine, share })));
const shares = parts.reduce((sum, { share }) => sum + share, 0);
const cluster = await openCluster().catch(endUnavailable);
let failed = false;

try {
  print(`seed ${seed}, ${seconds} seconds`);
  printRow('', 'engine', 'rounds', 'acknowledged', 'lost', 'doubled', 'over-act.', 'wrong', '95 % bound per round');
  const reports: Report[] = [];
  for (const { scenario, engine, share } of parts) {
    const lacking = scenario.lacks({ engine, cluster });
    if (lacking !== null) {
      print(`${scenario.name} on ${engine} is left out: ${lacking}`);
      continue;
    }
    const time = (seconds * (1 - CONTROLS_SHARE) * share) / shares;
    const run = { engine, cluster, seed, rounds: Number.POSITIVE_INFINITY, seconds: time, sabotage: null };
    const report = await scenario.run(run);
    // What the cleanup keeps was acknowledged by no server.
    if (scenario !== clock) reports.push(report);
    printReport(scenario.name, report);
    if (hasFailed(report)) failed = true;
  }
  printTotal(reports);

  print('');
  print('controls: each must fail');
  for (const { scenario } of plan.filter(({ scenario }) => only === undefined || scenario.name === only)) {
    for (const { sabotage, engine } of scenario.controls) {
      if (scenario.lacks({ engine, cluster }) !== null) continue;
      const run = { engine, cluster, seed, rounds: Number.POSITIVE_INFINITY, seconds: CONTROL_SECONDS, sabotage };
      const report = await scenario.run(run);
      if (!hasFailed(report)) failed = true;
      const end = hasFailed(report) ? `fails in round ${report.rounds}` : 'PASSES, and must not';
      print(`${scenario.name.padEnd(18)}${engine.padEnd(10)}${end}: ${sabotages[sabotage]}`);
    }
  }
} finally {
  await cluster.close();
}
print(failed ? 'failed' : 'passed');
process.exit(failed ? 1 : 0);

function printReport(name: string, report: Report): void {
  const { engine, rounds, acknowledged, lost, doubled, overActivated, wrong } = report;
  const bound = `${(bound95(rounds) * 100).toPrecision(2)} %`;
  printRow(name, engine, rounds, acknowledged, lost, doubled, overActivated, wrong, bound);
  for (const note of report.notes) print(`    ${note}`);
}

function printTotal(reports: readonly Report[]): void {
  const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0);
  const acknowledged = sum((report) => report.acknowledged);
  printRow(
    'all, per write',
    '',
    sum((report) => report.rounds),
    acknowledged,
    sum((report) => report.lost),
    sum((report) => report.doubled),
    sum((report) => report.overActivated),
    sum((report) => report.wrong),
    `${(bound95(acknowledged) * 100).toPrecision(2)} %`,
  );
}

function printRow(name: string, engine: string, ...cells: (string | number)[]): void {
  print(`${name.padEnd(18)}${engine.padEnd(10)}${cells.map((cell) => String(cell).padStart(14)).join('')}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
