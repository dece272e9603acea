import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { CommandResult } from '../output/result.ts';
import type { BulkJob } from './job.ts';
import { findJob, listJobs, readLinesOf, readRows } from './job-store.ts';
import type { BulkOperation } from './operation.ts';
import { findOperation } from './operations/index.ts';
import { writeCells } from './reading/columns.ts';
import { resultOf } from './results.ts';
import { countStates, readStates } from './row-states.ts';

/** Every run with how far it has come, oldest first. */
export async function describeJobs(io: Io) {
  const described = [];
  for (const job of listJobs(io)) {
    const { id, name, command, file, rows, createdAt, origin } = job;
    const states = statesOf(job, await findOperation(command), io);
    described.push({ id, name, command, file, rows, ...countStates(states), createdAt, origin });
  }
  return described;
}

const statesOf = (job: BulkJob, operation: BulkOperation | null, io: Io) =>
  readStates(job.rows, readLinesOf(job.id, io), io.now(), operation?.repeatsSafely ?? false);

/** The rows of a run as they are now. */
export async function showJob(text: string, io: Io): Promise<CommandResult> {
  const job = findJob(text, io);
  const operation = await operationOf(job);
  const { exitCode: _, ...result } = resultOf({
    ...{ job, operation, rows: readRows(job, io), notes: [] },
    states: statesOf(job, operation, io),
  });
  return result;
}

/** The rows of a run that failed, as a file has them. */
export async function showFailed(text: string, io: Io): Promise<CommandResult> {
  const job = findJob(text, io);
  const operation = await operationOf(job);
  const states = statesOf(job, operation, io);
  const failed: ReturnType<typeof writeCells>[] = [];
  let row = 0;
  for (const { body } of readRows(job, io)) {
    row += 1;
    if (states[row]?.kind === 'failed') failed.push(writeCells(operation.columns, body));
  }
  const names = new Set(failed.flatMap((cells) => [...cells.keys()]));
  const data = failed.map((cells) => Object.fromEntries(cells));
  const fields = operation.columns.single.filter(({ name }) => names.has(name)).map(({ name }) => ({ name }));
  return { kind: 'rows', rows: data, data, quiet: [], fields, empty: 'no row has failed', secret: true };
}

async function operationOf({ id, command }: BulkJob): Promise<BulkOperation> {
  const operation = await findOperation(command);
  if (operation === null) throw new UsageError(`this version of lkm does not know the command of run ${id}`);
  return operation;
}
