import type { ParsedCommand } from './command.ts';
import type { Settings } from './config/settings.ts';
import { openSession } from './context.ts';
import { exitCodes } from './failure/errors.ts';
import type { Progress } from './failure/fail.ts';
import { openDestination } from './output/destination.ts';
import { maskInLog } from './output/github.ts';
import { type CommandResult, chooseFields } from './output/result.ts';
import type { Note } from './output/terminal.ts';
import { writeResult } from './output/write.ts';
import { rerunLine } from './request/rerun.ts';
import { readValues } from './values/read-values.ts';

/** Runs a command and writes its result; resolves to the exit code. */
export async function runCommand(parsed: ParsedCommand, settings: Settings, progress: Progress): Promise<number> {
  const { command, written, globals } = parsed;
  const { io, argv } = progress;
  const fields = command.fields ?? [];
  const chosen = settings.fields && chooseFields(settings.fields, fields);
  const session = openSession({ flags: globals, settings, options: written.options, io });
  progress.session = session;
  const { values, picked } = await readValues(command, written, session);
  progress.argv = [...argv, ...picked];
  if (command.operation) {
    const { checkFields } = await import('./values/check-fields.ts');
    checkFields(command, values);
  }
  if (written.options.watch === true) {
    const { watch } = await import('./watch.ts');
    return watch({ parsed, values, settings, chosen, progress });
  }
  const overwrites = settings.force || (command.ownsOutput?.(written.options) ?? false);
  const destination = settings.output === null ? null : await openDestination(settings.output, overwrites, io);
  progress.destination = destination;
  const result = await command.run(values, session).catch((error: unknown) => {
    // The error is printed by `fail` and counts as delivered, except after a signal.
    if (!io.stop.aborted) session.delivered();
    return dryRunOutcome(error);
  });
  const rerun = (key: string) =>
    rerunLine([...progress.argv, ...session.foundWords], key, { command, written, showsSecrets: io.stderr.isTTY });
  if (destination === null && result.secrets) await maskInLog(result.secrets, io);
  const isTaken = await writeResult(result, {
    settings,
    io,
    fields,
    chosen,
    destination,
    release: session.release,
    rerun,
  });
  if (isTaken) session.delivered();
  else if (result.idempotencyKey !== undefined) await session.say(unread(rerun(result.idempotencyKey)));
  await result.afterwards?.();
  return result.exitCode ?? exitCodes.ok;
}

const unread = (line: string): Note => ({
  tone: 'warning',
  text: `the reader of stdout has gone without the answer; this prints it again:\n  ${line}`,
});

async function dryRunOutcome(error: unknown): Promise<CommandResult> {
  if (!(error instanceof Error) || error.name !== 'DryRun') throw error;
  const { DryRun } = await import('./request/dry-run.ts');
  if (error instanceof DryRun) return error.outcome;
  throw error;
}
