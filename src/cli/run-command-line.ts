import { readSettings, type Settings } from './config/settings.ts';
import { openSession } from './context.ts';
import { exitCodes } from './failure/exit-codes.ts';
import type { Progress } from './failure/fail.ts';
import type { Io } from './io.ts';
import { openDestination } from './output/destination.ts';
import { chooseFields } from './output/fields.ts';
import type { CommandResult, Note } from './output/result.ts';
import { print, writeResult } from './output/write.ts';
import { type ParsedCommand, parseCommandLine } from './program.ts';
import { rerunLine } from './request/rerun.ts';
import { readValues } from './values/read-values.ts';

/** Reads a command line and does what it says; resolves to the exit code. The one place that catches errors. */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<number> {
  const progress: Progress = { argv, io };
  const code = await runParsed(progress).catch((error: unknown) => explain(error, progress));
  try {
    progress.destination?.discard();
    await progress.session?.close();
    return code;
  } catch (error) {
    return code === exitCodes.ok ? explain(error, progress) : code;
  }
}

async function explain(error: unknown, progress: Progress): Promise<number> {
  const { fail } = await import('./failure/fail.ts');
  return fail(error, progress);
}

async function runParsed(progress: Progress): Promise<number> {
  const { argv, io } = progress;
  const parsed = await parseCommandLine(argv, io);
  if (parsed.kind === 'text') {
    await print(parsed.text, io);
    return exitCodes.ok;
  }
  progress.parsed = parsed;
  progress.settings = readSettings(parsed.globals, io);
  return runCommand(parsed, progress.settings, progress);
}

async function runCommand(parsed: ParsedCommand, settings: Settings, progress: Progress): Promise<number> {
  const { command, written, globals } = parsed;
  const { io, argv } = progress;
  const fields = command.fields ?? [];
  const chosen = chooseFields(settings.fields, fields);
  const session = openSession({ written, flags: globals, settings, io });
  progress.session = session;
  const { values, picked } = await readValues(command, written, session);
  progress.argv = [...argv, ...picked];
  if (command.operation) {
    const { checkFields } = await import('./values/check-fields.ts');
    checkFields(command, values);
  }
  const destination = settings.output === null ? null : await openDestination(settings.output, settings.force, io);
  progress.destination = destination;
  const result = await command.run(values as never, session).catch((error: unknown) => {
    // The error is the result then, and `fail` prints it.
    if (!io.stop.aborted) session.delivered();
    return dryRunOutcome(error);
  });
  const rerun = (key: string) => rerunLine(progress.argv, key, { command, written, showsSecrets: io.stderr.isTTY });
  const isTaken = await writeResult(result, { settings, io, fields, chosen, destination, rerun });
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
