import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import { openRun } from '../state/open-run.ts';
import { findRun, listRuns } from '../state/runs.ts';
import { writeCells } from './columns.ts';
import { blockKeys, createCustomers, renewKeys, updateKeys } from './operations/changes.ts';
import { createKeys } from './operations/create-keys.ts';
import { importKeys } from './operations/import-keys.ts';
import { resultOf } from './results.ts';
import type { BulkRun } from './run.ts';

const operations = [createKeys, importKeys, updateKeys, renewKeys, blockKeys, createCustomers];

const findOperation = (command: string) => operations.find((operation) => operation.command === command);

export async function describeRuns({ io, knownState }: CommandContext) {
  const state = await knownState();
  if (state === null) return [];
  return listRuns(state).map((stored) => {
    const { id, name, command, file, rows, createdAt, origin } = stored.run;
    const { existing: _, ...counts } = openRun(state, stored, findOperation(command) ?? {}, io).counts();
    return { id, name, command, file, rows, ...counts, createdAt, origin };
  });
}

export async function showRun(text: string, context: CommandContext): Promise<CommandResult> {
  const { exitCode: _, ...result } = resultOf(await findBulkRun(text, context));
  return result;
}

/** The rows of a run that failed, as a file has them. */
export async function showFailed(text: string, context: CommandContext): Promise<CommandResult> {
  const { operation, read } = await findBulkRun(text, context);
  const failed = read().filter(({ kind }) => kind === 'failed');
  const data = [...failed.map(({ body }) => writeCells(operation.columns, body))];
  const fields = operation.columns.single.filter(({ name }) => data.some((cells) => name in cells));
  return { kind: 'rows', rows: data, data, quiet: [], fields, empty: 'no row has failed', secret: true };
}

/** A run by its id or name, with what its command does. Throws `NotFoundError`, and `UsageError` for a newer command. */
export async function findBulkRun(text: string, context: CommandContext): Promise<BulkRun> {
  const stored = findRun(await context.knownState(), text);
  const operation = findOperation(stored.run.command);
  if (operation === undefined) {
    throw new UsageError(`this version of lkm does not know the command of run ${stored.run.id}`);
  }
  return openRun(await context.state(), stored, operation, context.io);
}
