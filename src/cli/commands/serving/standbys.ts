import { option } from '../../command.ts';
import { isPostgres, locate, withoutPassword } from '../../config/location.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { loadOperator } from '../../request/operator.ts';
import { type Check, ok } from '../doctor/check.ts';
import { runCheck } from '../doctor/run-check.ts';

/** The option of a server that reads from standbys. */
export const standbyOptions = {
  dbRead: option('--db-read <DB,...>', 'hot standbys of a PostgreSQL database, which reads may go to', {
    env: 'LKM_DB_READ',
    parse: parseStandbys,
  }),
};

/** The standbys that the option names. Throws `UsageError` for a database that has none. */
export function standbysOf({ dbRead = [] }: { readonly dbRead?: readonly string[] | undefined }, db: string) {
  if (dbRead.length > 0 && !isPostgres(db)) throw new UsageError('--db-read goes with a PostgreSQL database in --db');
  return dbRead;
}

/** Whether each of them replays the log of the database. */
export async function checkStandbys(db: string, standbys: readonly string[]): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const standby of standbys) {
    const found = await runCheck('standby', async () => {
      const { inspectStandby } = await loadOperator();
      const { bytesBehind } = await inspectStandby(db, standby);
      return ok('standby', `${withoutPassword(standby)}, ${count(bytesBehind, 'byte')} of the log behind`);
    });
    checks.push(found);
  }
  return checks;
}

/** Addresses apart by commas. A comma inside one is not followed by another address. */
function parseStandbys(text: string, io: Io): readonly string[] {
  const addresses = text.split(/,\s*(?=postgres(?:ql)?:\/\/)/);
  if (!addresses.every(isPostgres))
    throw new UsageError('--db-read names PostgreSQL servers: postgres://HOST/DATABASE');
  return addresses.map((address) => locate(address, io));
}
