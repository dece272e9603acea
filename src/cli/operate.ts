import type { Context } from './context.ts';
import { loadOperator, type Operator } from './instance.ts';
import { checkExists } from './location.ts';
import { chooseDatabase } from './target.ts';

/** The database that an operator's command names, which must be there, and what can be done to it. */
export async function operateOn({
  flags,
  io,
}: Pick<Context, 'flags' | 'io'>): Promise<{ readonly db: string; readonly operator: Operator }> {
  const db = chooseDatabase(flags, io);
  checkExists(db);
  return { db, operator: await loadOperator() };
}
