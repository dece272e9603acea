import { bound95, hasFailed, type Report } from './report.ts';
import { sabotages } from './sabotage.ts';
import type { Run, Scenario } from './scenario.ts';
import type { Planned } from './scenarios/index.ts';

/** How long a run may take as a whole, and what it begins with. */
export interface Limits extends Pick<Run, 'cluster' | 'seed'> {
  readonly seconds: number;
}

/** The controls end with their first failure, which comes soon. */
const CONTROLS_SHARE = 0.15;
const CONTROL_SECONDS = 60;

/**
 * Divides the time among the scenarios, runs them on each of their engines, and then their controls. Prints the results as
 * a table in Markdown.
 *
 * @returns whether nothing went wrong and every control failed
 */
export async function runPlan(
  plan: readonly Planned[],
  { seconds, cluster, seed }: Limits,
  print: (line: string) => void,
): Promise<boolean> {
  const parts = plan.flatMap(({ scenario, share }) => scenario.engines.map((engine) => ({ scenario, engine, share })));
  const shares = parts.reduce((sum, { share }) => sum + share, 0);
  const base = { cluster, seed, rounds: Number.POSITIVE_INFINITY };
  const problems: string[] = [];
  const remarks: string[] = [];
  const reports: Report[] = [];

  print(`seed ${seed}, ${seconds} seconds`);
  print('');
  print(
    '| scenario | engine | rounds | acknowledged | lost | doubled | over-activated | wrong | 95 % bound per round |',
  );
  print('|---|---|--:|--:|--:|--:|--:|--:|--:|');
  for (const { scenario, engine, share } of parts) {
    const name = `${scenario.name} on ${engines[engine]}`;
    const lacking = scenario.lacks({ engine, cluster });
    if (lacking !== null) {
      remarks.push(`${name} is left out: ${lacking}`);
      continue;
    }
    const time = (seconds * (1 - CONTROLS_SHARE) * share) / shares;
    const report = await attempt(scenario, { ...base, engine, seconds: time, sabotage: null });
    if (typeof report === 'string') {
      problems.push(`${name} was broken off: ${report}`);
      continue;
    }
    print(rowOf(report));
    reports.push(report);
    remarks.push(...report.notes.map((note) => `${name}: ${note}`));
    if (hasFailed(report)) problems.push(`${name} failed`);
    else if (report.acknowledged === 0) problems.push(`${name} showed nothing: no change was acknowledged`);
  }
  if (reports.length === 0) problems.push('no scenario ran');
  print('');
  // What the cleanup keeps was acknowledged by no server.
  print(total(reports.filter((report) => report.scenario !== 'clock')));
  for (const remark of remarks) print(`- ${remark}`);

  print('');
  print('controls, each of which must fail:');
  for (const { scenario } of plan) {
    for (const { sabotage, engine } of scenario.controls) {
      if (scenario.lacks({ engine, cluster }) !== null) continue;
      const name = `${scenario.name} on ${engines[engine]}, when ${sabotages[sabotage]}`;
      const report = await attempt(scenario, { ...base, engine, seconds: CONTROL_SECONDS, sabotage });
      if (typeof report === 'string') problems.push(`${name}, was broken off: ${report}`);
      else if (!hasFailed(report)) problems.push(`${name}, passed and must not`);
      else print(`- ${name}: fails in round ${report.rounds}`);
    }
  }

  print('');
  for (const problem of problems) print(`- ${problem}`);
  print(problems.length === 0 ? 'passed' : 'failed');
  return problems.length === 0;
}

const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

/** The report of a run, or why there is none. */
async function attempt(scenario: Scenario, run: Run): Promise<Report | string> {
  try {
    return await scenario.run(run);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

function rowOf({ scenario, engine, rounds, acknowledged, lost, doubled, overActivated, wrong }: Report): string {
  const counts = [rounds, acknowledged, lost, doubled, overActivated, wrong];
  return `| ${[`\`${scenario}\``, engines[engine], ...counts, percent(bound95(rounds))].join(' | ')} |`;
}

function total(reports: readonly Report[]): string {
  const sum = (count: (report: Report) => number) => reports.reduce((result, report) => result + count(report), 0);
  const acknowledged = sum((report) => report.acknowledged);
  const failures = [
    `${sum((report) => report.lost)} lost`,
    `${sum((report) => report.doubled)} doubled`,
    `${sum((report) => report.overActivated)} over-activated`,
    `${sum((report) => report.wrong)} wrong`,
  ];
  return (
    `Together: ${sum((report) => report.rounds)} rounds with ${acknowledged} acknowledged changes, ` +
    `${failures.join(', ')}; less than ${percent(bound95(acknowledged))} per change (without \`clock\`).`
  );
}

const percent = (rate: number): string => `${rate === 1 ? 100 : (rate * 100).toPrecision(2)} %`;
