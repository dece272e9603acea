import { createRandom } from '../service/context.ts';
import { type CopiedTable, type CopyProgress, copyDatabase, migrateTarget } from '../store/copy.ts';
import { LOCK_TIMEOUT_MS, withDatabase } from '../store/database.ts';
import { ensureSchema, migrate, type SchemaStatus, schemaStatus } from '../store/migrate.ts';
import { type Rekeyed, rekey } from '../store/rekey.ts';
import { hasIndexOfWords } from '../store/search.ts';
import type { MasterKey } from '../store/secret-box.ts';

/** How an operator's command opens a database: it waits for another command on the same file. */
const opening = { waitMs: LOCK_TIMEOUT_MS };
const existing = { ...opening, create: false };

/** Returns the finished and the pending migrations of a database; changes nothing. */
export const databaseStatus = (location: string): Promise<DatabaseStatus> =>
  withDatabase(location, existing, async (database) => {
    const status = await schemaStatus(database);
    const isCurrent = status.pending.length === 0;
    const search = isCurrent ? ((await hasIndexOfWords(database)) ? 'indexed' : 'not indexed') : null;
    return { engine: database.engine, ...status, search };
  });

interface DatabaseStatus extends SchemaStatus {
  readonly engine: string;
  /** Whether searches use an index; null if the schema is not up to date. */
  readonly search: 'indexed' | 'not indexed' | null;
}

/** Brings the schema of a database up to date; returns the migrations that it ran. */
export const migrateDatabase = (location: string): Promise<readonly string[]> =>
  withDatabase(location, opening, migrate);

/** Copies an instance into another, empty database, on any engine. An abort of `signal` undoes it and throws its reason. */
export const copyInstance = (
  from: string,
  to: string,
  onProgress: (progress: CopyProgress) => void,
  signal?: AbortSignal,
): Promise<CopiedTable[]> =>
  withDatabase(from, existing, (source) =>
    withDatabase(to, opening, async (target) => {
      await ensureSchema(source, { location: from, create: false });
      await migrateTarget(target);
      return copyDatabase(source, target, onProgress, signal);
    }),
  );

/**
 * Seals the secrets of a database under another master key; null stores them unsealed. SQLite overwrites the old values at once,
 * PostgreSQL with the next vacuum.
 *
 * @throws StartupError when `from` is not the master key of the database, or a server is connected to it
 */
export const rekeyDatabase = (
  location: string,
  keys: { readonly from: MasterKey | null; readonly to: MasterKey | null },
): Promise<Rekeyed> =>
  withDatabase(location, existing, async (database) => {
    await ensureSchema(database, { location, create: false });
    return rekey(database, { ...keys, random: createRandom() });
  });
