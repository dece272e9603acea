import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { CommandResult } from '../output/result.ts';
import type { BulkOperation } from './operation.ts';
import { findOperation } from './operations/index.ts';
import { writeCells } from './reading/columns.ts';
import { resultOf } from './results.ts';
import { countStates, readStates } from './row-states.ts';
import type { BulkRun } from './run.ts';
import { findRun, listRuns, readLinesOf, readRows } from './run-store.ts';

/** Every run with how far it has come, oldest first. */
export async function describeRuns(io: Io) {
  const described = [];
  for (const run of listRuns(io)) {
    const { id, name, command, file, rows, createdAt, origin } = run;
    const states = statesOf(run, await findOperation(command), io);
    described.push({ id, name, command, file, rows, ...countStates(states), createdAt, origin });
  }
  return described;
}

const statesOf = (run: BulkRun, operation: BulkOperation | null, io: Io) =>
  readStates(run, readLinesOf(run.id, io), io.now(), operation?.repeatsSafely ?? false);

/** The rows of a run as they are now. */
export async function showRun(text: string, io: Io): Promise<CommandResult> {
  const run = findRun(text, io);
  const operation = await operationOf(run);
  const { exitCode: _, ...result } = resultOf({
    run,
    operation,
    rows: readRows(run, io),
    notes: [],
    states: statesOf(run, operation, io),
  });
  return result;
}

/** The rows of a run that failed, as a file has them. */
export async function showFailed(text: string, io: Io): Promise<CommandResult> {
  const run = findRun(text, io);
  const operation = await operationOf(run);
  const states = statesOf(run, operation, io);
  const failed: ReturnType<typeof writeCells>[] = [];
  let row = 0;
  for (const { body } of readRows(run, io)) {
    row += 1;
    if (states[row]?.kind === 'failed') failed.push(writeCells(operation.columns, body));
  }
  const names = new Set(failed.flatMap((cells) => [...cells.keys()]));
  const data = failed.map((cells) => Object.fromEntries(cells));
  const fields = operation.columns.single.filter(({ name }) => names.has(name)).map(({ name }) => ({ name }));
  return { kind: 'rows', rows: data, data, quiet: [], fields, empty: 'no row has failed', secret: true };
}

async function operationOf({ id, command }: BulkRun): Promise<BulkOperation> {
  const operation = await findOperation(command);
  if (operation === null) throw new UsageError(`this version of lkm does not know the command of run ${id}`);
  return operation;
}
