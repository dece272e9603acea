import { type Command, type ParsedCommand, productFilter } from './command.ts';
import type { Settings } from './config/settings.ts';
import { type CommandContext, type OpenedContext, openContext } from './context.ts';
import { exitCodes, UsageError } from './failure/errors.ts';
import { openDestination } from './output/destination.ts';
import { maskInLog } from './output/github.ts';
import { type CommandResult, chooseFields } from './output/result.ts';
import type { Order } from './output/sort.ts';
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
  const { io } = state;
  // Before anything is sent: no change is made if its result cannot be shown as it is asked for.
  const shape = await readShape(command, settings);
  const context = openContext({ flags: globals, settings, options: written.options, io });
  state.context = context;
  const values = await readInput(parsed, context, state);
  if (settings.output !== null) {
    const overwrites = settings.force || (command.ownsOutput?.(written.options) ?? false);
    state.destination = openDestination(settings.output, overwrites, io);
  }
  const result = await command.run(values, context).catch((error: unknown) => {
    // `fail` prints the error, which counts as delivered, except after a signal.
    if (!io.stop.aborted) context.delivered();
    return dryRunOutcome(error);
  });
  const shown = shape.order === null ? result : await sorted(result, shape.order, context);
  await deliver(shown, shape, context, state);
  return result.exitCode ?? exitCodes.ok;
}

/** How `--fields`, `--sort` and `--jq` shape a result. Throws `UsageError`. */
async function readShape(command: Command, settings: Settings) {
  const { fields } = command;
  if (command.streams) checkCanStream(command, settings);
  const chosen = settings.fields && chooseFields(settings.fields, fields);
  const order = settings.sort === null ? null : (await import('./output/sort.ts')).readOrder(settings.sort, fields);
  const filter = settings.jq === null ? null : await (await import('./output/filter.ts')).openFilter(settings.jq);
  return { fields, chosen, order, filter };
}

async function sorted(result: CommandResult, order: Order, context: CommandContext): Promise<CommandResult> {
  if (result.kind !== 'rows') await context.say({ tone: 'warning', text: '--sort is for lists' });
  const { sortRows } = await import('./output/sort.ts');
  return sortRows(result, order);
}

/** Reads and checks the values of the command, with ids in place of names. */
async function readInput({ command, written }: ParsedCommand, context: CommandContext, state: RunState) {
  const read = await readValues(command, written, context);
  state.argv = [...state.argv, ...read.pickedWords];
  const values = await resolveObjects(command, read.values, context, state);
  const isNarrowed = command.options.product === productFilter && written.fromEnvironment.includes('product');
  if (isNarrowed && values.product !== undefined && state.io.stderr.isTTY) {
    await context.say({ tone: 'hint', text: `only product ${values.product}, set by LKM_PRODUCT or lkm config` });
  }
  if (command.operation) {
    const { checkFields } = await import('./values/check-fields.ts');
    checkFields(command, values);
  }
  return values;
}

/** Writes a result to `-o`, to its own file or to stdout. A change whose result was not taken is repeated by the next run. */
async function deliver(
  result: CommandResult,
  { fields, chosen, filter }: Awaited<ReturnType<typeof readShape>>,
  context: OpenedContext,
  state: RunState,
): Promise<void> {
  const { io, settings } = context;
  const file = context.flags.output === undefined ? result.file : null;
  if (file) state.destination = openDestination(file.path, true, io);
  const destination = state.destination ?? null;
  if (destination === null && result.secrets) await maskInLog(result.secrets, io);
  const rerun = (key: string) => rerunLine(state, key);
  const isTaken = await writeResult(result, {
    settings: file ? { ...settings, output: file.path, fileFormat: file.format } : settings,
    io,
    fields,
    chosen,
    destination,
    filter: file ? null : filter,
    rerun,
  });
  if (isTaken) context.delivered();
  else if (result.idempotencyKey !== undefined) await context.say(unread(rerun(result.idempotencyKey)));
  await result.afterwards?.();
  if (filter?.failure) throw filter.failure;
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
