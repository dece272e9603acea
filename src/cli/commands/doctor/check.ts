import type { CommandContext } from '../../context.ts';
import { CommandError, exitCodes, hintText } from '../../failure/errors.ts';
import { toReport } from '../../failure/report.ts';
import type { Situation } from '../../failure/situation.ts';
import type { CommandResult, View } from '../../output/result.ts';
import { asTyped, sanitise } from '../../output/terminal.ts';
import { count, wrap } from '../../output/words.ts';

export interface Check {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** Null if nothing has to be done. */
  readonly advice: string | null;
}

export const ok = (check: string, detail: string): Check => ({ check, status: 'ok', detail, advice: null });

const problem =
  (status: 'warn' | 'fail') =>
  (check: string, detail: string, advice: string): Check => ({ check, status, detail, advice });

export const warn = problem('warn');
export const fail = problem('fail');

/** Turns an error into a failed check with its usual words; `asked` describes the service. */
export const failed =
  (check: string, asked?: Omit<Situation, 'rerun'>) =>
  (error: unknown): Check => {
    const situation = { baseUrl: null, tokenFrom: null, now: 0, ...asked, rerun: () => '' };
    const { message, hints } = toReport(error, situation);
    const otherwise = error instanceof CommandError ? 'Correct it, and run this again.' : 'Run it again with --debug.';
    const [advice = otherwise] = hints
      .map((hint) => hintText(hint).replace(/^Nothing was sent\. ?/, ''))
      .filter(Boolean);
    return fail(check, message, advice);
  };

export function checkResult(checks: readonly Check[], { io, settings }: CommandContext): CommandResult {
  const failures = checks.filter(({ status }) => status === 'fail').map(({ check }) => check);
  const warnings = checks.filter(({ status }) => status === 'warn').length;
  const isFine = failures.length === 0;
  const verdict = isFine ? 'nothing is wrong' : `${count(failures.length, 'check')} failed`;
  const besides = warnings > 0 ? `, ${count(warnings, 'warning')}` : '';
  return {
    kind: 'rows',
    rows: checks.map((check) => ({ ...check })),
    data: { ok: isFine, checks },
    quiet: failures,
    empty: 'nothing was checked',
    exitCode: isFine ? exitCodes.ok : exitCodes.local,
    draw: (view) => listChecks(checks, view, (advice) => asTyped(advice, io.env, settings.serviceOptions)),
    notes: [{ tone: isFine ? 'done' : 'warning', text: verdict + besides }],
  };
}

function listChecks(checks: readonly Check[], { paint, columns }: View, typed: (advice: string) => string): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const indent = ' '.repeat(width + 8);
  const colored = { ok: paint.green, warn: paint.yellow, fail: paint.red };
  return checks
    .map(({ check, status, detail, advice }) => {
      const folded = (text: string) => wrap(sanitise(text), columns - indent.length);
      const line = `${colored[status](status.padEnd(4))}  ${check.padEnd(width)}  ${folded(detail).join(`\n${indent}`)}\n`;
      const told = advice === null ? [] : folded(typed(advice)).map((text) => `${indent}${paint.dim(text)}\n`);
      return [line, ...told].join('');
    })
    .join('');
}
