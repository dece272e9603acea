import { checkExists } from '../config/location.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { chooseDatabase } from './target.ts';

export type Operator = typeof import('../../operator/index.ts');

export const loadOperator = (): Promise<Operator> => import('../../operator/index.ts');

/** The database of an operator's command, which must exist, and the functions for it. */
export async function operateOn({ flags, io }: { readonly flags: GlobalFlags; readonly io: Io }) {
  const db = chooseDatabase(flags, io);
  checkExists(db);
  return { db, operator: await loadOperator() };
}
