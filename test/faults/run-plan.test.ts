import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newReport, type Report } from '../../faults/report.ts';
import { runPlan } from '../../faults/run-plan.ts';
import type { Run, Scenario } from '../../faults/scenario.ts';

/** A scenario that reports what it is told to, and its control. */
function scripted(found: Partial<Report> | Error, controlled: Partial<Report> | Error = { lost: 1 }): Scenario {
  return {
    name: 'scripted',
    about: 'a scenario with a script',
    engines: ['sqlite'],
    controls: [{ sabotage: 'early-answer', engine: 'sqlite' }],
    lacks: () => null,
    run: async ({ sabotage, engine, seed }: Run) => {
      const script = sabotage === null ? found : controlled;
      if (script instanceof Error) throw script;
      return { ...newReport('scripted', engine, seed), rounds: 200, acknowledged: 4_000, ...script };
    },
  };
}

async function run(scenarios: readonly Scenario[], seconds = 100): Promise<{ passed: boolean; lines: string[] }> {
  const lines: string[] = [];
  const plan = scenarios.map((scenario, index) => ({ scenario, share: index + 1, shortRounds: 1 }));
  const passed = await runPlan(plan, { seconds, seed: 7, cluster: null }, (line) => void lines.push(line));
  return { passed, lines };
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

  it('says what is left out', async () => {
    const { passed, lines } = await run([{ ...scripted({ lost: 1 }, {}), lacks: () => 'no strace' }, scripted({})]);
    expect(lines).toContain('- scripted on SQLite is left out: no strace');
    expect(passed).toBe(true);
  });

  it('fails when everything is left out', async () => {
    const { passed, lines } = await run([{ ...scripted({}), lacks: () => 'no strace' }]);
    expect(lines).toContain('- no scenario ran');
    expect(passed).toBe(false);
  });

  it('divides the time by the shares, and keeps some for the controls', async () => {
    const given: number[] = [];
    const timed = { ...scripted({}), controls: [] };
    const scenario: Scenario = {
      ...timed,
      run: (asked) => {
        given.push(asked.seconds);
        return timed.run(asked);
      },
    };
    await run([scenario, scenario], 1_200);
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

  it('ends with 1 when a scenario fails', () => {
    const argv = [index, '--minutes', '0.01', '--scenario', 'second-server'];
    const { status, stdout } = spawnSync(process.execPath, argv, {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: join(import.meta.dirname, 'no-such-folder') },
    });
    expect(stdout).toContain('second-server on SQLite was broken off: Error: ENOENT');
    expect({ status, end: stdout.split('\n').at(-2) }).toEqual({ status: 1, end: 'failed' });
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
});
