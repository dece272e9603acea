import { createRandom } from '../service/context.ts';
import { type CopiedTable, type CopyProgress, copyDatabase, migrateTarget } from '../store/copy.ts';
import { LOCK_TIMEOUT_MS, withDatabase } from '../store/database.ts';
import { type Inspection, inspect } from '../store/inspect.ts';
import { migrate, type SchemaStatus, schemaStatus } from '../store/migrate.ts';
import { type PartitionedTable, partition } from '../store/partition.ts';
import { type Rekeyed, rekey } from '../store/rekey.ts';
import type { MasterKey } from '../store/secret-box.ts';

/** A database as an operator's command opens it: it waits so long for another short-lived one on the same file. */
const shortly = { waitMs: LOCK_TIMEOUT_MS };

/** One that has to be there. */
const existing = { ...shortly, create: false };

/** Returns which migrations a database has run and which are pending; changes nothing. */
export const databaseStatus = (location: string): Promise<{ engine: string } & SchemaStatus> =>
  withDatabase(location, existing, async ({ engine, kysely }) => ({ engine, ...(await schemaStatus(kysely)) }));

/** Looks at a database that others may be using; see `inspect`. */
export const inspectDatabase = (location: string): Promise<Inspection | null> => inspect(location);

/** Looks at a hot standby of a PostgreSQL database; throws StartupError when reads cannot go to it. */
export async function inspectStandby(db: string, standby: string): Promise<{ readonly bytesBehind: number }> {
  const engine = await import('../store/engine/postgres/inspect-standby.ts');
  return engine.inspectStandby(db, standby);
}

/** Brings the schema of a database up to date; returns the migrations that it ran. */
export const migrateDatabase = (location: string): Promise<readonly string[]> =>
  withDatabase(location, shortly, ({ kysely }) => migrate(kysely));

/**
 * Brings the schema of a PostgreSQL database up to date, then divides its tables by account; returns those that it divided.
 *
 * @throws StartupError when a server is connected, or they are in another number of partitions
 */
export async function partitionDatabase(
  location: string,
  partitions: number,
  onTable: (table: string, rows: number) => void,
): Promise<{ readonly ran: readonly string[]; readonly divided: readonly PartitionedTable[] }> {
  const ran = await migrateDatabase(location);
  // One connection only: any other session on the database is a server, and refused.
  const divided = await withDatabase(location, undefined, ({ kysely }) => partition(kysely, partitions, onTable));
  return { ran, divided };
}

/** Copies an instance into another, empty database, on any engine. An abort of `signal` undoes it and throws its reason. */
export const copyInstance = (
  from: string,
  to: string,
  onProgress: (progress: CopyProgress) => void,
  signal?: AbortSignal,
): Promise<CopiedTable[]> =>
  withDatabase(from, existing, (source) =>
    withDatabase(to, shortly, async (target) => {
      await migrateTarget(target.kysely);
      await migrate(source.kysely);
      return copyDatabase(source, target, onProgress, signal);
    }),
  );

/**
 * Puts the secrets of a database under another master key; null makes them plain. On SQLite what was plain before is
 * overwritten; on PostgreSQL it is gone with the next vacuum.
 *
 * @throws StartupError when `from` is not the master key of the database, or a server is connected to it
 */
export async function rekeyDatabase(
  location: string,
  keys: { readonly from: MasterKey | null; readonly to: MasterKey | null },
): Promise<Rekeyed> {
  await withDatabase(location, existing, ({ kysely }) => migrate(kysely));
  // One connection only: any other session on PostgreSQL is a server.
  return withDatabase(location, existing, ({ kysely }) => rekey(kysely, { ...keys, random: createRandom() }));
}
