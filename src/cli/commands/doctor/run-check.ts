import { CommandError } from '../../failure/errors.ts';
import { toReport } from '../../failure/report.ts';
import { type Check, fail } from './check.ts';

/** Runs a check; an error becomes a failed check, with its advice. */
export async function runCheck<T>(check: string, work: () => Promise<T>): Promise<T | Check> {
  try {
    return await work();
  } catch (error) {
    return failedBy(check, error);
  }
}

/** The failed check for an error, in the words in which any command reports it. */
export function failedBy(check: string, error: unknown): Check {
  const { message, hints } = toReport(error, { baseUrl: null, tokenFrom: null, now: 0, rerun: () => '' });
  const words = hints.map((hint) => (typeof hint === 'string' ? hint : hint.filter(Boolean).join(' ')));
  const otherwise = error instanceof CommandError ? 'Correct it, and run this again.' : 'Run it again with --debug.';
  const [advice = otherwise] = words.filter((one) => !/ (answered \d|had no answer)/.test(one));
  return fail(check, message, advice.replace(/^Nothing was sent\. /, ''));
}
