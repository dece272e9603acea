import { type Command, type ParsedCommand, productFilter } from './command.ts';
import type { Settings } from './config/settings.ts';
import { openContext } from './context.ts';
import { exitCodes, UsageError } from './failure/errors.ts';
import { openDestination } from './output/destination.ts';
import { maskInLog } from './output/github.ts';
import { type CommandResult, chooseFields } from './output/result.ts';
import type { Note } from './output/terminal.ts';
import { quote } from './output/words.ts';
import { writeResult } from './output/write.ts';
import { rerunLine } from './request/rerun.ts';
import type { RunState } from './run-state.ts';
import { readValues } from './values/read-values.ts';
import { resolveObjects } from './values/resolve-objects.ts';

/** Runs a command and writes its result; resolves to the exit code. */
export async function runCommand(parsed: ParsedCommand, settings: Settings, state: RunState): Promise<number> {
  const { command, written, globals } = parsed;
  const { io, argv } = state;
  const fields = command.fields ?? [];
  const chosen = settings.fields && chooseFields(settings.fields, fields);
  const order = settings.sort === null ? null : (await import('./output/sort.ts')).readOrder(settings.sort, fields);
  // Before anything is sent: no change is made if its result cannot be filtered.
  const filter = settings.jq === null ? null : await (await import('./output/filter.ts')).openFilter(settings.jq);
  if (command.streams) checkCanStream(command, settings);
  const context = openContext({ flags: globals, settings, options: written.options, io });
  state.context = context;
  const read = await readValues(command, written, context);
  const { pickedWords } = read;
  state.argv = [...argv, ...pickedWords];
  const values = await resolveObjects(command, read.values, context, state);
  const isNarrowed = command.options.product === productFilter && written.fromEnvironment.includes('product');
  if (isNarrowed && values.product !== undefined && io.stderr.isTTY) {
    await context.say({ tone: 'hint', text: `only product ${values.product}, set by LKM_PRODUCT or lkm config` });
  }
  if (command.operation) {
    const { checkFields } = await import('./values/check-fields.ts');
    checkFields(command, values);
  }
  const overwrites = settings.force || (command.ownsOutput?.(written.options) ?? false);
  const destination = settings.output === null ? null : openDestination(settings.output, overwrites, io);
  state.destination = destination;
  const unsorted = await command.run(values, context).catch((error: unknown) => {
    // `fail` prints the error, which counts as delivered, except after a signal.
    if (!io.stop.aborted) context.delivered();
    return dryRunOutcome(error);
  });
  const result = order === null ? unsorted : (await import('./output/sort.ts')).sortRows(unsorted, order);
  if (order !== null && result.kind !== 'rows') await context.say({ tone: 'warning', text: '--sort is for lists' });
  const rerun = (key: string) => rerunLine(state, key);
  if (destination === null && !result.file && result.secrets) await maskInLog(result.secrets, io);
  const file = globals.output === undefined ? result.file : null;
  if (file) state.destination = openDestination(file.path, true, io);
  const isTaken = await writeResult(result, {
    settings: file ? { ...settings, output: file.path, fileFormat: file.format } : settings,
    io,
    fields,
    chosen,
    destination: state.destination,
    filter: file ? null : filter,
    rerun,
  });
  if (isTaken) context.delivered();
  else if (result.idempotencyKey !== undefined) await context.say(unread(rerun(result.idempotencyKey)));
  await result.afterwards?.();
  if (filter?.failure) throw filter.failure;
  return result.exitCode ?? exitCodes.ok;
}

function checkCanStream({ path }: Command, { output }: Settings): void {
  if (output !== null) {
    throw new UsageError(`${path} goes on until it is stopped, and -o writes a file at the end: leave out -o`, [
      ['Into a file, line by line:', `lkm ${path} … > ${quote(output)}`],
    ]);
  }
}

const unread = (line: string): Note => ({
  tone: 'warning',
  text: `the reader of stdout has gone without the answer; this prints it again:\n  ${line}`,
});

async function dryRunOutcome(error: unknown): Promise<CommandResult> {
  // By its name first: the class is loaded only when it is needed.
  if (!(error instanceof Error) || error.name !== 'DryRun') throw error;
  const { DryRun } = await import('./request/dry-run.ts');
  if (error instanceof DryRun) return error.outcome;
  throw error;
}
