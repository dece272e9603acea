import type { Hint } from '../failure/errors.ts';
import type { Report } from '../failure/report.ts';
import { createPaint } from './paint.ts';
import { sanitise, sanitiseJson } from './sanitise.ts';

/** An error for people: what happened, then what to do next. */
export async function renderError({ message, hints }: Report, color: boolean): Promise<string> {
  const paint = await createPaint(color);
  const width = Math.max(0, ...hints.map((hint) => (typeof hint === 'string' ? 0 : hint[0].length)));
  const lines = hints.map((hint) => {
    if (typeof hint === 'string') return `  ${sanitise(hint)}\n`;
    const [label, command] = hint;
    return `  ${paint.dim(label.padEnd(width))}  ${sanitise(command)}\n`;
  });
  return `${paint.red('error:')} ${sanitise(message)}\n${lines.join('')}`;
}

/** An error for programs: one object on one line. */
export function renderErrorJson(report: Report): string {
  const { code, message, exitCode, status, apiCode, operation, retryable, idempotencyKey, hints } = report;
  const hint = hints.map(hintText).join('\n') || null;
  const error = { code, message, exitCode, status, apiCode, operation, retryable, idempotencyKey, hint };
  return `${sanitiseJson(JSON.stringify({ error }))}\n`;
}

const hintText = (hint: Hint): string => (typeof hint === 'string' ? hint : hint.filter(Boolean).join(' '));
