import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newReport, type Report } from '../../faults/report.ts';
import { runPlan } from '../../faults/run-plan.ts';
import type { Run, Scenario } from '../../faults/scenario.ts';

type Found = Partial<Report> | Error;

/** Runs one scenario that finds this, and its control that finds that; tells the last line and all of them. */
async function run(found: Found, controlled: Found, more: Partial<Scenario> = {}) {
  const lines: string[] = [];
  const play = async (_: Scenario, { sabotage, engine }: Run) => {
    const script = sabotage === null ? found : controlled;
    if (script instanceof Error) throw script;
    return { ...newReport('scripted', engine), rounds: 200, acknowledged: 4_000, ...script };
  };
  const scenario: Scenario = {
    ...{ name: 'scripted', about: 'a scenario with a script', engines: ['sqlite'], share: 1, shortRounds: 1 },
    ...{ controls: [['early-answer', 'sqlite']], begin: () => async () => {} },
    ...more,
  };
  const print = (text: string) => void lines.push(...text.split('\n'));
  const passed = await runPlan([scenario], { seconds: 100, seed: 7, cluster: null }, print, play);
  expect(lines.at(-1)).toBe(passed ? 'passed' : 'failed');
  return passed;
}

it.each<[what: string, passed: boolean, found: Found, controlled: Found, more?: Partial<Scenario>]>([
  ['passes when nothing went wrong and each control failed', true, {}, { lost: 1 }],
  ['fails when a key was lost', false, { lost: 1 }, { lost: 1 }],
  ['fails when one was doubled', false, { doubled: 1 }, { lost: 1 }],
  ['fails when a licence was over-activated', false, { overActivated: 1 }, { lost: 1 }],
  ['fails when something was wrong', false, { wrong: 1 }, { lost: 1 }],
  ['fails when nothing was acknowledged', false, { acknowledged: 0 }, { lost: 1 }],
  ['fails when a control passed', false, {}, {}],
  ['fails when a control was broken off', false, {}, new Error('no disk')],
  ['fails when everything is left out', false, {}, { lost: 1 }, { lacks: () => 'no strace' }],
])('a run of all scenarios %s', async (_, passed, found, controlled, more) => {
  expect(await run(found, controlled, more)).toBe(passed);
});

it('npm run test:faults ends with 1 when a scenario fails', () => {
  const env = { ...process.env, TMPDIR: join(import.meta.dirname, 'no-such-folder') };
  const argv = [join(import.meta.dirname, '../../faults/index.ts'), '--minutes', '0.01', '--scenario', 'second-server'];
  const { status, stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8', env });
  expect(stdout).toContain('second-server on SQLite was broken off: Error: ENOENT');
  expect({ status, end: stdout.split('\n').at(-2) }).toEqual({ status: 1, end: 'failed' });
});
