import { readSettings, type Settings } from './config/settings.ts';
import { openSession } from './context.ts';
import { exitCodes } from './failure/exit-codes.ts';
import { fail, type Progress } from './failure/fail.ts';
import { helpView } from './help/section.ts';
import type { Io } from './io.ts';
import { openDestination } from './output/destination.ts';
import { chooseFields } from './output/fields.ts';
import { writeResult } from './output/write.ts';
import { type ParsedCommand, parseCommandLine } from './program.ts';
import { rerunLine } from './request/rerun.ts';
import { readValues } from './values/read-values.ts';

/** Reads a command line and does what it says; resolves to the exit code. The one place that catches errors. */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<number> {
  const progress: Progress = { argv, io };
  try {
    const parsed = await parseCommandLine(argv, helpView(argv, io));
    if (parsed.kind === 'text') {
      await io.stdout.write(parsed.text);
      return exitCodes.ok;
    }
    progress.parsed = parsed;
    progress.settings = readSettings(parsed.globals, io);
    return await runCommand(parsed, progress.settings, progress);
  } catch (error) {
    return await fail(error, progress);
  } finally {
    progress.destination?.discard();
    await progress.session?.close();
  }
}

async function runCommand(parsed: ParsedCommand, settings: Settings, progress: Progress): Promise<number> {
  const { command, written, globals } = parsed;
  const { io, argv } = progress;
  const fields = command.fields ?? [];
  const chosen = chooseFields(settings.fields, fields);
  const values = await readValues(command, written, io);
  if (command.operation) {
    const { checkFields } = await import('./values/check-fields.ts');
    checkFields(command, values);
  }
  const destination = settings.output === null ? null : await openDestination(settings.output, settings.force, io);
  progress.destination = destination;
  const session = openSession({ values, flags: globals, settings, io });
  progress.session = session;
  const outcome = await command.run(values as never, session).catch(dryRunOutcome);
  const rerun = (key: string) => rerunLine(argv, key, { command, written, showsSecrets: io.stderr.isTTY });
  await writeResult(outcome, { settings, io, fields, chosen, destination, rerun });
  session.delivered();
  await outcome.afterwards?.();
  return outcome.exitCode ?? exitCodes.ok;
}

async function dryRunOutcome(error: unknown) {
  if (!(error instanceof Error) || error.name !== 'DryRun') throw error;
  const { DryRun } = await import('./request/dry-run.ts');
  if (error instanceof DryRun) return error.outcome;
  throw error;
}
