import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import { rowsOf } from '../state/rows.ts';
import { findRun, listRuns } from '../state/runs.ts';
import type { BulkOperation } from './operation.ts';
import { writeCells } from './reading/columns.ts';
import { resultOf } from './results.ts';
import type { OpenedRun } from './run.ts';

/** Every run with how far it has come, oldest first. */
export async function describeRuns({ io, knownState }: CommandContext) {
  const state = await knownState();
  if (state === null) return [];
  return Promise.all(
    listRuns(state).map(async (stored) => {
      const { id, name, command, file, rows, createdAt, origin } = stored.run;
      const operation = (await findOperation(command)) ?? {};
      const { existing: _, ...counts } = rowsOf(state, stored, operation, io).counts();
      return { id, name, command, file, rows, ...counts, createdAt, origin };
    }),
  );
}

/** The rows of a run as they are now. */
export async function showRun(text: string, context: CommandContext): Promise<CommandResult> {
  const { exitCode: _, ...result } = resultOf(await openRun(text, context));
  return result;
}

/** The rows of a run that failed, as a file has them. */
export async function showFailed(text: string, context: CommandContext): Promise<CommandResult> {
  const { operation, rows } = await openRun(text, context);
  const data: Record<string, string>[] = [];
  for (const { kind, body } of rows.read()) if (kind === 'failed') data.push(writeCells(operation.columns, body));
  const fields = operation.columns.single.filter(({ name }) => data.some((cells) => name in cells));
  return { kind: 'rows', rows: data, data, quiet: [], fields, empty: 'no row has failed', secret: true };
}

/** A run by its id or name, with what its command does. Throws `NotFoundError`, and `UsageError` for a newer command. */
export async function openRun(text: string, context: CommandContext): Promise<OpenedRun> {
  const { io, knownState } = context;
  const stored = findRun(await knownState(), text);
  const operation = await findOperation(stored.run.command);
  if (operation === null) throw new UsageError(`this version of lkm does not know the command of run ${stored.run.id}`);
  const state = await context.state();
  return { ...stored, state, operation, rows: rowsOf(state, stored, operation, io) };
}

/** The operation of a bulk command, by its words; null for a command that has none. */
async function findOperation(command: string): Promise<BulkOperation | null> {
  switch (command) {
    case 'keys create':
      return (await import('./operations/create-keys.ts')).createKeysOperation;
    case 'keys import':
      return (await import('./operations/import-keys.ts')).importKeysOperation;
    case 'keys update':
      return (await import('./operations/change-keys.ts')).updateKeysOperation;
    case 'keys renew':
      return (await import('./operations/change-keys.ts')).renewKeysOperation;
    case 'keys block':
      return (await import('./operations/change-keys.ts')).blockKeysOperation;
    case 'customers create':
      return (await import('./operations/create-customers.ts')).createCustomersOperation;
    default:
      return null;
  }
}
