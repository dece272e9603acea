import { createRandom } from '../service/context.ts';
import { type CopiedTable, type CopyProgress, copyDatabase, migrateTarget } from '../store/copy.ts';
import { type Inspection, inspect } from '../store/inspect.ts';
import { migrate, type SchemaStatus, schemaStatus } from '../store/migrate.ts';
import { type PartitionedTable, partition } from '../store/partition.ts';
import { type Rekeyed, rekey } from '../store/rekey.ts';
import type { MasterKey } from '../store/secret-box.ts';
import { openDatabase } from '../store/store.ts';

/** How long an operator's command waits for another short-lived one on the same file, in milliseconds. */
const LOCK_TIMEOUT_MS = 10_000;

/** Returns which migrations a database has run and which are pending; changes nothing. */
export async function databaseStatus(location: string): Promise<{ engine: string } & SchemaStatus> {
  const database = await openDatabase(location, { waitMs: LOCK_TIMEOUT_MS, create: false });
  try {
    return { engine: database.engine, ...(await schemaStatus(database.kysely)) };
  } finally {
    await database.close();
  }
}

/** Looks at a database that others may be using; see `inspect`. */
export const inspectDatabase = (location: string): Promise<Inspection | null> => inspect(location);

/** Looks at a hot standby of a PostgreSQL database; throws StartupError when reads cannot go to it. */
export async function inspectStandby(db: string, standby: string): Promise<{ readonly bytesBehind: number }> {
  const { inspectStandby } = await import('../store/engine/postgres/inspect-standby.ts');
  return inspectStandby(db, standby);
}

/** Brings the schema of a database up to date; returns the migrations that it ran. */
export async function migrateDatabase(location: string): Promise<readonly string[]> {
  const database = await openDatabase(location, { waitMs: LOCK_TIMEOUT_MS });
  try {
    return await migrate(database.kysely);
  } finally {
    await database.close();
  }
}

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
  const database = await openDatabase(location);
  try {
    return { ran, divided: await partition(database.kysely, partitions, onTable) };
  } finally {
    await database.close();
  }
}

/** Copies an instance into another, empty database, on any engine. An abort of `signal` undoes it and throws its reason. */
export async function copyInstance(
  from: string,
  to: string,
  onProgress: (progress: CopyProgress) => void,
  signal?: AbortSignal,
): Promise<CopiedTable[]> {
  const source = await openDatabase(from, { waitMs: LOCK_TIMEOUT_MS, create: false });
  try {
    const target = await openDatabase(to, { waitMs: LOCK_TIMEOUT_MS });
    try {
      await migrateTarget(target.kysely);
      await migrate(source.kysely);
      return await copyDatabase(source.kysely, target.kysely, onProgress, signal);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * Puts the secrets of a database under another master key; null makes them plain. On SQLite what was plain before is
 * overwritten; on PostgreSQL it is gone with the next vacuum.
 *
 * @throws StartupError when `from` is not the master key of the database
 */
export async function rekeyDatabase(
  location: string,
  keys: { readonly from: MasterKey | null; readonly to: MasterKey | null },
): Promise<Rekeyed> {
  const database = await openDatabase(location, { waitMs: LOCK_TIMEOUT_MS, create: false });
  try {
    await migrate(database.kysely);
    return await rekey(database.kysely, { ...keys, random: createRandom() });
  } finally {
    await database.close();
  }
}
