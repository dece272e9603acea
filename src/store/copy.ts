import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Connection, Database } from './engine/driver.ts';
import { join, raw, sql } from './engine/sql.ts';
import { StartupError } from './errors.ts';
import { migrate } from './migrate.ts';
import { countOf, type Row } from './table.ts';

/** How far the copy of a table has come, in rows. */
export interface CopyProgress {
  readonly table: string;
  readonly done: number;
  readonly total: number;
}

/** The number of copied rows of a table, and a checksum of their content, equal on both sides. */
export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  readonly checksum: string;
}

type OpenDatabase = Pick<Database, 'connection' | 'explain'>;

interface Table {
  readonly name: string;
  readonly key: readonly string[];
}

/** Every table with its primary key, in the order of foreign keys. */
const tables: readonly Table[] = [
  { name: 'accounts', key: ['id'] },
  { name: 'data_keys', key: ['slot'] },
  { name: 'signing_keys', key: ['account_id', 'kid'] },
  { name: 'tokens', key: ['account_id', 'id'] },
  { name: 'products', key: ['account_id', 'id'] },
  { name: 'customers', key: ['account_id', 'id'] },
  { name: 'customer_links', key: ['account_id', 'customer_id', 'hash'] },
  { name: 'licenses', key: ['account_id', 'id'] },
  { name: 'previous_keys', key: ['account_id', 'license_key'] },
  { name: 'plans', key: ['account_id', 'id'] },
  { name: 'trials', key: ['account_id', 'product_id', 'host_id'] },
  { name: 'devices', key: ['account_id', 'license_id', 'host_id'] },
  { name: 'sessions', key: ['account_id', 'license_id', 'id'] },
  { name: 'slot_promises', key: ['account_id', 'license_id', 'host_id'] },
  { name: 'idempotency', key: ['account_id', 'key_hash'] },
  { name: 'outbox', key: ['account_id', 'id'] },
  { name: 'license_files', key: ['account_id', 'id'] },
  { name: 'revocation_lists', key: ['account_id'] },
  { name: 'audit', key: ['account_id', 'seq'] },
  { name: 'events', key: ['account_id', 'seq'] },
  { name: 'record_heads', key: ['account_id'] },
  { name: 'checkpoints', key: ['account_id', 'seq'] },
  { name: 'product_versions', key: ['account_id', 'id'] },
  { name: 'license_metadata', key: ['account_id', 'name', 'value', 'license_id'] },
  { name: 'webhooks', key: ['account_id', 'id'] },
  { name: 'webhook_deliveries', key: ['account_id', 'webhook_id', 'seq'] },
  { name: 'customer_words', key: ['account_id', 'customer_id'] },
  { name: 'license_words', key: ['account_id', 'license_id', 'host_id'] },
];

const BATCH = 500;

/**
 * Copies every row of one database into another, empty one of the same schema, in one transaction: the target holds
 * all of it or nothing. Both sides are then read again and compared by counts and checksums.
 *
 * @param signal ends the copy between two batches: the target stays empty, and its reason is thrown
 * @throws StartupError when the target is not empty, or when the two sides differ in the end
 */
export async function copyDatabase(
  from: OpenDatabase,
  to: Database,
  onProgress: (progress: CopyProgress) => void,
  signal?: AbortSignal,
): Promise<CopiedTable[]> {
  await refuseFilled(to.connection);
  const copied = await to.transaction(async (target) => {
    const copied: CopiedTable[] = [];
    for (const table of tables) {
      const { name } = table;
      const total = await countOf(from.connection, raw(name));
      let done = 0;
      for await (const rows of readAll(from, table, signal)) {
        await insertAll(target, name, rows);
        done += rows.length;
        onProgress({ table: name, done, total });
      }
      const ours = await digest(from, table, signal);
      const theirs = await digest({ ...to, connection: target }, table, signal);
      if (ours.rows !== theirs.rows || ours.checksum !== theirs.checksum) {
        throw new StartupError(`${name} changed while it was copied`, 'stop every server on the source and copy again');
      }
      copied.push(theirs);
    }
    return copied;
  });
  // Without statistics PostgreSQL would plan its first queries for empty tables.
  if (to.engine === 'PostgreSQL') await to.connection.run(raw(`analyze ${tables.map(({ name }) => name).join(', ')}`));
  return copied;
}

/** Makes the schema of the target. Throws StartupError if the target is not empty. */
export async function migrateTarget(to: Database): Promise<void> {
  if ((await to.tables()).has('accounts')) await refuseFilled(to.connection);
  await migrate(to);
}

async function refuseFilled(to: Connection): Promise<void> {
  if ((await countOf(to, sql`accounts`)) === 0) return;
  throw new StartupError('the target already holds an instance', 'copy into a new database');
}

async function insertAll(db: Connection, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${join(columns.map((column) => row[column] ?? null))})`);
  await db.run(sql`insert into ${raw(`${table} (${columns.join(', ')})`)} values ${join(values)}`);
}

/** Reads a table in batches, by its primary key, without the numbers that SQLite gives rows of words. */
async function* readAll({ connection, explain }: OpenDatabase, { name, key }: Table, signal?: AbortSignal) {
  const columns = raw(key.join(', '));
  let after = sql`1 = 1`;
  for (;;) {
    // SQLite is synchronous: without a turn of the event loop no signal would arrive.
    await nextTurn();
    signal?.throwIfAborted();
    const batch = sql`select * from ${raw(name)} where ${after} order by ${columns} limit ${BATCH}`;
    const read = ({ row_id: _, ...row }: Row): Row => row;
    const rows = await connection.all(batch, read).catch((error: unknown) => {
      throw explain(error);
    });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return;
    after = sql`(${columns}) > (${join(key.map((column) => last[column] ?? null))})`;
  }
}

/** Counts the rows and adds up their hashes. A sum does not depend on the order of rows, in which engines may differ. */
async function digest(db: OpenDatabase, table: Table, signal?: AbortSignal): Promise<CopiedTable> {
  let rows = 0;
  let sum = 0n;
  for await (const batch of readAll(db, table, signal)) {
    for (const row of batch) {
      rows += 1;
      const columns = Object.keys(row).sort();
      sum += hash('sha256', JSON.stringify(columns.map((column) => [column, row[column]])), 'buffer').readBigUInt64BE();
    }
  }
  return { table: table.name, rows, checksum: BigInt.asUintN(64, sum).toString(16).padStart(16, '0') };
}
