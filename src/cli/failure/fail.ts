import { withoutPasswords } from '../config/location.ts';
import { asTyped, type Settings } from '../config/settings.ts';
import type { CommandSession } from '../context.ts';
import type { Io } from '../io.ts';
import { renderError, renderErrorJson } from '../output/error.ts';
import { sanitiseLines } from '../output/sanitise.ts';
import type { ParsedCommand } from '../program.ts';
import { rerunLine } from '../request/rerun.ts';
import { InterruptedError } from './errors.ts';
import type { Report } from './report.ts';

/** How far a run has come; an error is explained by it. */
export interface Progress {
  /** With the words of the values that were picked. */
  argv: readonly string[];
  readonly io: Io;
  parsed?: ParsedCommand;
  settings?: Settings;
  session?: CommandSession;
}

/** Says what went wrong and resolves to the exit code. */
export async function fail(error: unknown, progress: Progress): Promise<number> {
  const { argv, io, parsed, settings, session } = progress;
  const { explain } = await import('./report.ts');
  const rerun = (key: string): string =>
    parsed ? rerunLine(argv, key, { ...parsed, showsSecrets: io.stderr.isTTY }) : '';
  const explained = explain(interruption(progress, rerun) ?? error, {
    baseUrl: session?.connection?.baseUrl ?? null,
    tokenFrom: session?.connection?.token?.from ?? null,
    rerun,
  });
  const report = { ...explained, ...asShown(explained, io) };
  const isJson = settings ? settings.format === 'json' || settings.format === 'jsonl' : asksForJson(argv, io);
  await io.stderr.write(isJson ? renderErrorJson(report) : await renderError(report, settings?.color.stderr ?? false));
  if (settings?.debug && error instanceof Error)
    await io.stderr.write(`${sanitiseLines(withoutPasswords(traceOf(error)))}\n`);
  return report.exitCode;
}

/** The words of a report, as they are typed here, without the password of a database. */
function asShown({ message, hints }: Report, { env }: Io): Pick<Report, 'message' | 'hints'> {
  const shown = (text: string): string => withoutPasswords(asTyped(text, env));
  return {
    message: withoutPasswords(message),
    hints: hints.map((hint) => (typeof hint === 'string' ? shown(hint) : [hint[0], shown(hint[1])])),
  };
}

/** The error for a process that was told to stop, with the change that was being sent. */
function interruption({ io, session }: Progress, rerun: (key: string) => string): InterruptedError | null {
  if (!io.stop.aborted) return null;
  const key = session?.pendingKey;
  if (!key) return new InterruptedError(io.stop.reason);
  return new InterruptedError(io.stop.reason, [
    'The change may have been made. Run the same command again with the same key:',
    ['', rerun(key)],
  ]);
}

/** Before the options are read: whether an error should be JSON all the same. */
const asksForJson = (argv: readonly string[], { env }: Io): boolean =>
  argv.some((word) => /^(--json|--format=jsonl?|jsonl?)$/.test(word)) || /^jsonl?$/.test(env.LKM_FORMAT ?? '');

function traceOf(error: Error): string {
  const causes: Error[] = [];
  for (let one: unknown = error; one instanceof Error && causes.length < 8; one = one.cause) causes.push(one);
  return causes.map(({ stack, message }) => stack ?? message).join('\ncaused by: ');
}
