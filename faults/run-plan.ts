import { hasFailed, type Report } from './report.ts';
import { sabotages } from './sabotages.ts';
import { type Run, runScenario, type Scenario } from './scenario.ts';

/** The controls end with their first failure, which comes soon: that of `every-step` in some 30 rounds, of 3 s on a busy machine. */
const CONTROLS_SHARE = 0.15;
const CONTROL_SECONDS = 180;

const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

/**
 * Divides the time among the scenarios, runs them on each of their engines, and then their controls. Prints the results as
 * a table in Markdown.
 *
 * @returns whether nothing went wrong and every control failed
 */
export async function runPlan(
  plan: readonly Scenario[],
  { seconds, cluster, seed }: Pick<Run, 'cluster' | 'seed' | 'seconds'>,
  print: (line: string) => void,
  play: typeof runScenario = runScenario,
): Promise<boolean> {
  const parts = plan.flatMap((scenario) => scenario.engines.map((engine) => ({ scenario, engine })));
  const shares = parts.reduce((sum, { scenario }) => sum + scenario.share, 0);
  const base = { cluster, seed, rounds: Number.POSITIVE_INFINITY };
  const problems: string[] = [];
  const remarks: string[] = [];
  const reports: Report[] = [];
  /** The report of a run, or why there is none. */
  const attempt = (scenario: Scenario, run: Run): Promise<Report | string> =>
    play(scenario, run).catch((error: unknown) => (error instanceof Error && error.stack) || String(error));

  print(`seed ${seed}, ${seconds} seconds\n`);
  print(
    '| scenario | engine | rounds | acknowledged | lost | doubled | over-activated | wrong | 95 % bound per round |',
  );
  print('|---|---|--:|--:|--:|--:|--:|--:|--:|');
  for (const { scenario, engine } of parts) {
    const name = `${scenario.name} on ${engines[engine]}`;
    const lacking = scenario.lacks?.(cluster) ?? null;
    if (lacking !== null) {
      remarks.push(`${name} is left out: ${lacking}`);
      continue;
    }
    const time = (seconds * (1 - CONTROLS_SHARE) * scenario.share) / shares;
    const report = await attempt(scenario, { ...base, engine, seconds: time, sabotage: null });
    if (typeof report === 'string') {
      problems.push(`${name} was broken off: ${report}`);
      continue;
    }
    const { rounds, acknowledged, lost, doubled, overActivated, wrong } = report;
    const counts = [rounds, acknowledged, lost, doubled, overActivated, wrong];
    print(`| ${[`\`${scenario.name}\``, engines[engine], ...counts, bound95(rounds)].join(' | ')} |`);
    reports.push(report);
    remarks.push(...[...report.counts].map(([what, times]) => `${name}: ${times} ${what}`));
    remarks.push(...report.notes.map((note) => `${name}: ${note}`));
    if (hasFailed(report)) problems.push(`${name} failed`);
    else if (acknowledged === 0) problems.push(`${name} showed nothing: no change was acknowledged`);
  }
  if (reports.length === 0) problems.push('no scenario ran');
  const sum = (count: 'rounds' | 'acknowledged') => reports.reduce((result, report) => result + report[count], 0);
  print(
    `\nTogether: ${sum('rounds')} rounds with ${sum('acknowledged')} acknowledged changes; ` +
      `less than ${bound95(sum('acknowledged'))} failures per change.`,
  );
  for (const remark of remarks) print(`- ${remark}`);

  print('\ncontrols, each of which must fail:');
  for (const scenario of plan.filter(({ lacks }) => (lacks?.(cluster) ?? null) === null)) {
    for (const [sabotage, engine] of scenario.controls) {
      const name = `${scenario.name} on ${engines[engine]}, when ${sabotages[sabotage].about}`;
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

/** The rate that no failure in so many tries excludes at 95 %: the rule of three. */
function bound95(tries: number): string {
  const rate = Math.min(1, 3 / tries);
  return `${rate === 1 ? 100 : (rate * 100).toPrecision(2)} %`;
}
