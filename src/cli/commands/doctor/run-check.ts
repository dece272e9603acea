import type { Situation } from '../../failure/advice.ts';
import { CommandError, hintText } from '../../failure/errors.ts';
import { toReport } from '../../failure/report.ts';
import { type Check, fail } from './check.ts';

/** Runs a check; an error becomes a failed check, with its advice. */
export async function runCheck<T>(check: string, work: () => Promise<T>, situation?: () => Asked): Promise<T | Check> {
  try {
    return await work();
  } catch (error) {
    return failedBy(check, error, situation?.());
  }
}

/** The service that a check asked, and when. */
export type Asked = Pick<Situation, 'baseUrl' | 'tokenFrom' | 'now'>;

/** For checks that send nothing: their errors name no service and no time. */
const nothingAsked: Asked = { baseUrl: null, tokenFrom: null, now: 0 };

/** The failed check for an error, in the words in which any command reports it. */
export function failedBy(check: string, error: unknown, asked?: Asked): Check {
  const { message, hints } = toReport(error, { ...(asked ?? nothingAsked), rerun: () => '' });
  const otherwise = error instanceof CommandError ? 'Correct it, and run this again.' : 'Run it again with --debug.';
  // No check sends a change.
  const [advice = otherwise] = hints.map((hint) => hintText(hint).replace(/^Nothing was sent\. ?/, '')).filter(Boolean);
  return fail(check, message, advice);
}
