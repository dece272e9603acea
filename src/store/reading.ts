import { openSqliteReading } from './engine/sqlite/reading.ts';
import { findSecrets, type Sealing } from './secrets.ts';
import { repositoriesOn } from './store.ts';

/**
 * The repositories of a SQLite database that this process has open, on connections of their own, which only read and copy the
 * log: for another thread.
 */
export async function openReading(path: string, sealing: Sealing) {
  const { connection, copyLog } = openSqliteReading(path);
  const transaction = (): never => {
    throw new TypeError('this connection only reads');
  };
  const secrets = await findSecrets({ reader: connection, transaction }, sealing);
  return { repositories: repositoriesOn(connection, secrets), copyLog };
}
