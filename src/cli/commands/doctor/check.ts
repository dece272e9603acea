import type { CommandContext } from '../../context.ts';
import type { Situation } from '../../failure/advice.ts';
import { CommandError, exitCodes, hintText } from '../../failure/errors.ts';
import { toReport } from '../../failure/report.ts';
import type { CommandResult, View } from '../../output/result.ts';
import { asTyped, sanitise } from '../../output/terminal.ts';
import { count } from '../../output/words.ts';

/** What one check found. */
export interface Check {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do about it; null when there is nothing to do. */
  readonly advice: string | null;
}

export const ok = (check: string, detail: string): Check => ({ check, status: 'ok', detail, advice: null });

const badly =
  (status: 'warn' | 'fail') =>
  (check: string, detail: string, advice: string): Check => ({
    check,
    status,
    detail,
    advice,
  });

export const warn = badly('warn');

export const fail = badly('fail');

/** The service that a check asked, and when. */
export type Asked = Pick<Situation, 'baseUrl' | 'tokenFrom' | 'now'>;

/** For checks that send nothing: their errors name no service and no time. */
const nothingAsked: Asked = { baseUrl: null, tokenFrom: null, now: 0 };

/** Runs a check; an error becomes a failed check, with its advice. */
export async function runCheck<T>(check: string, work: () => Promise<T>, asked?: () => Asked): Promise<T | Check> {
  try {
    return await work();
  } catch (error) {
    return failedBy(check, error, asked?.());
  }
}

/** The failed check for an error, in the words in which any command reports it. */
export function failedBy(check: string, error: unknown, asked: Asked = nothingAsked): Check {
  const { message, hints } = toReport(error, { ...asked, rerun: () => '' });
  const otherwise = error instanceof CommandError ? 'Correct it, and run this again.' : 'Run it again with --debug.';
  const [advice = otherwise] = hints.map((hint) => hintText(hint).replace(/^Nothing was sent\. ?/, '')).filter(Boolean);
  return fail(check, message, advice);
}

/** The fields of a check. */
export const checkFields = [{ name: 'check' }, { name: 'status' }, { name: 'detail' }, { name: 'advice' }];

/** The result of a command that ran checks: a line for each, and exit code 13 when one has failed. */
export function checkResult(checks: readonly Check[], { io, settings }: CommandContext): CommandResult {
  const failed = checks.filter(({ status }) => status === 'fail');
  const warned = checks.filter(({ status }) => status === 'warn');
  const isFine = failed.length === 0;
  const verdict = isFine ? 'nothing is wrong' : `${count(failed.length, 'check')} failed`;
  const warnings = warned.length > 0 ? `, ${count(warned.length, 'warning')}` : '';
  return {
    kind: 'rows',
    rows: checks.map((check) => ({ ...check })),
    fields: checkFields,
    data: { ok: isFine, checks },
    quiet: failed.map(({ check }) => check),
    empty: 'nothing was checked',
    exitCode: isFine ? exitCodes.ok : exitCodes.local,
    draw: (view) => listChecks(checks, view, (advice) => asTyped(advice, io.env, settings.serviceOptions)),
    notes: [{ tone: isFine ? 'done' : 'warning', text: `${verdict}${warnings}` }],
  };
}

/** A line for each check, and what to do below it. */
function listChecks(checks: readonly Check[], { paint }: View, typed: (advice: string) => string): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const indent = ' '.repeat(STATUS_WIDTH + width + 4);
  const colored = { ok: paint.green, warn: paint.yellow, fail: paint.red };
  return checks
    .map(({ check, status, detail, advice }) => {
      const line = `${colored[status](status.padEnd(STATUS_WIDTH))}  ${check.padEnd(width)}  ${sanitise(detail)}\n`;
      return advice === null ? line : `${line}${indent}${paint.dim(sanitise(typed(advice)))}\n`;
    })
    .join('');
}

const STATUS_WIDTH = 4;
