import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newReport, type Report } from '../../faults/report.ts';
import { runPlan } from '../../faults/run-plan.ts';
import type { Run, Scenario } from '../../faults/scenario.ts';

type Found = Partial<Report> | Error;

/** What the scenarios of a test find, and their controls. */
const scripts = new Map<Scenario, readonly [found: Found, controlled: Found]>();

/** A scenario that reports what it is told to, and its control. */
function scripted(found: Found, controlled: Found = { lost: 1 }, more: Partial<Scenario> = {}): Scenario {
  const scenario: Scenario = {
    name: 'scripted',
    about: 'a scenario with a script',
    engines: ['sqlite'],
    controls: [['early-answer', 'sqlite']],
    share: 1,
    shortRounds: 1,
    begin: () => async () => {},
    ...more,
  };
  scripts.set(scenario, [found, controlled]);
  return scenario;
}

async function run(scenarios: readonly Scenario[], seconds = 100) {
  const lines: string[] = [];
  const given: number[] = [];
  const play = async (scenario: Scenario, asked: Run) => {
    given.push(asked.seconds);
    const script = scripts.get(scenario)?.[asked.sabotage === null ? 0 : 1];
    if (script instanceof Error) throw script;
    return { ...newReport('scripted', asked.engine), rounds: 200, acknowledged: 4_000, ...script };
  };
  const print = (text: string) => void lines.push(...text.split('\n'));
  const passed = await runPlan(scenarios, { seconds, seed: 7, cluster: null }, print, play);
  return { passed, lines, given };
}

describe('a run of all scenarios', () => {
  it('passes when nothing went wrong and each control failed', async () => {
    const { passed, lines } = await run([scripted({})]);
    expect(lines).toContain('| `scripted` | SQLite | 200 | 4000 | 0 | 0 | 0 | 0 | 1.5 % |');
    expect(lines).toContain('- scripted on SQLite, when the answer is sent before the commit: fails in round 200');
    expect({ passed, last: lines.at(-1) }).toEqual({ passed: true, last: 'passed' });
  });

  it.each<[string, Scenario, string]>([
    ['something was lost', scripted({ lost: 1 }), 'scripted on SQLite failed'],
    ['something was doubled', scripted({ doubled: 1 }), 'scripted on SQLite failed'],
    ['a licence was over-activated', scripted({ overActivated: 1 }), 'scripted on SQLite failed'],
    ['something was wrong', scripted({ wrong: 1 }), 'scripted on SQLite failed'],
    ['nothing was acknowledged', scripted({ acknowledged: 0 }), 'scripted on SQLite showed nothing'],
    ['a scenario was broken off', scripted(new Error('no disk')), 'scripted on SQLite was broken off: Error: no disk'],
    ['a control passed', scripted({}, {}), 'scripted on SQLite, when the answer is sent before the commit, passed'],
    ['a control was broken off', scripted({}, new Error('no disk')), 'was broken off: Error: no disk'],
  ])('fails when %s, and goes on with the others', async (_, scenario, problem) => {
    const { passed, lines } = await run([scenario, scripted({ rounds: 77 })]);
    expect(lines.filter((line) => line.includes('| 77 |'))).toHaveLength(1);
    expect(lines.join('\n')).toContain(problem);
    expect({ passed, last: lines.at(-1) }).toEqual({ passed: false, last: 'failed' });
  });

  it('says what is left out, and fails when that is everything', async () => {
    const lacking = scripted({ lost: 1 }, {}, { lacks: () => 'no strace' });
    const { passed, lines } = await run([lacking, scripted({})]);
    expect(lines).toContain('- scripted on SQLite is left out: no strace');
    expect(passed).toBe(true);
    const alone = await run([lacking]);
    expect(alone.lines).toContain('- no scenario ran');
    expect(alone.passed).toBe(false);
  });

  it('divides the time by the shares, and keeps some for the controls', async () => {
    const { given } = await run(
      [1, 2].map((share) => scripted({}, {}, { controls: [], share })),
      1_200,
    );
    expect(given).toEqual([340, 680]);
  });
});

describe('npm run test:faults', () => {
  const index = join(import.meta.dirname, '../../faults/index.ts');

  it.each([
    [['--minutes', 'long'], '--minutes long is not a number of minutes'],
    [['--minutes', '0'], '--minutes 0 is not a number of minutes'],
    [['--seed', '1.5'], '--seed 1.5 is not a whole number'],
    [['--scenario', 'slot'], 'there is no scenario slot; there are kill-loop'],
  ])('refuses %j', (given, message) => {
    const { status, stderr } = spawnSync(process.execPath, [index, ...given], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
  });

  it('runs one scenario for the time given, with its controls', () => {
    const argv = [index, '--minutes', '0.01', '--seed', '7', '--scenario', 'second-server'];
    const { status, stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    expect(stdout).toMatch(
      /^seed 7, 0\.6 seconds\n\n\| scenario [^\n]*\n\|---[^\n]*\n\| `second-server` \| SQLite \| 1 \|/,
    );
    expect(stdout).toMatch(/second-server on SQLite, when a file is locked under its name only: fails in round 1\n/);
    expect({ status, end: stdout.split('\n').at(-2) }).toEqual({ status: 0, end: 'passed' });
  }, 90_000);

  it('ends with 1 when a scenario fails', () => {
    const env = { ...process.env, TMPDIR: join(import.meta.dirname, 'no-such-folder') };
    const argv = [index, '--minutes', '0.01', '--scenario', 'second-server'];
    const { status, stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8', env });
    expect(stdout).toContain('second-server on SQLite was broken off: Error: ENOENT');
    expect({ status, end: stdout.split('\n').at(-2) }).toEqual({ status: 1, end: 'failed' });
  });
});
