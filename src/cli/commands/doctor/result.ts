import type { CommandContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../failure/errors.ts';
import type { CommandResult, Field, View } from '../../output/result.ts';
import { asTyped, sanitise } from '../../output/terminal.ts';
import { count } from '../../output/words.ts';
import type { Check } from './check.ts';

/** The fields of a check. */
export const checkFields: readonly Field[] = [
  { name: 'check' },
  { name: 'status' },
  { name: 'detail' },
  { name: 'advice' },
];

/** The result of a command that ran checks: a line for each, and exit code 13 when one has failed. */
export function checkResult(checks: readonly Check[], { io, settings }: CommandContext): CommandResult {
  const failed = checks.filter(({ status }) => status === 'fail');
  const warned = checks.filter(({ status }) => status === 'warn');
  const exitCode: ExitCode = failed.length > 0 ? exitCodes.local : exitCodes.ok;
  const verdict = failed.length > 0 ? `${count(failed.length, 'check')} failed` : 'nothing is wrong';
  const warnings = warned.length > 0 ? `, ${count(warned.length, 'warning')}` : '';
  return {
    kind: 'rows',
    rows: checks.map((check) => ({ ...check })),
    fields: checkFields,
    data: { ok: failed.length === 0, checks },
    quiet: failed.map(({ check }) => check),
    empty: 'nothing was checked',
    exitCode,
    draw: (view) => listChecks(checks, view, (advice) => asTyped(advice, io.env, settings.serviceOptions)),
    notes: [{ tone: failed.length > 0 ? 'warning' : 'done', text: `${verdict}${warnings}` }],
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
