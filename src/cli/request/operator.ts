import { checkExists } from '../config/location.ts';
import { chooseDatabase } from '../config/target.ts';
import type { CommandContext } from '../context.ts';
import { loadOperator, type Operator } from './server.ts';

/** The database that an operator's command names, which must be there, and what can be done to it. */
export async function operateOn({
  flags,
  io,
}: Pick<CommandContext, 'flags' | 'io'>): Promise<{ readonly db: string; readonly operator: Operator }> {
  const db = chooseDatabase(flags, io);
  checkExists(db);
  return { db, operator: await loadOperator() };
}
