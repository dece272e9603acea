import { randomBytes } from 'node:crypto';
import { type Kysely, SqliteAdapter, sql } from 'kysely';
import type { AccountId } from '../../contract/scalars.ts';
import { deriveKey, NONCE_BYTES, sealResponse } from '../response-sealing.ts';
import { StartupError } from '../startup-error.ts';

/** The columns that this migration reads and writes, before and after. */
interface Columns {
  readonly idempotency: {
    readonly account_id: string;
    readonly idempotency_key: string;
    readonly fingerprint_version: number;
    readonly fingerprint: string;
    readonly state: string;
    readonly method: string;
    readonly path: string;
    readonly status: number | null;
    readonly content_type: string | null;
    readonly body: string | null;
    readonly created_at: string;
  };
  readonly idempotency_sealed: {
    readonly account_id: string;
    readonly key_hash: string;
    readonly fingerprint_version: number;
    readonly fingerprint: string;
    readonly state: string;
    readonly method: string;
    readonly path: string;
    readonly token_id: string | null;
    readonly sealed_response: string | null;
    readonly created_at: string;
  };
  readonly audit: {
    readonly account_id: string;
    readonly id: string;
    readonly action: string;
    readonly subject: string;
  };
}

type Before = Columns['idempotency'];
type After = Columns['idempotency_sealed'];

const BATCH_SIZE = 500;

/**
 * Makes sure that SQLite keeps nothing that was deleted earlier, and that what this migration deletes is overwritten.
 * Runs before the transaction: VACUUM cannot run inside one. Should the process end in between, it runs again.
 */
export async function before(db: Kysely<Columns>): Promise<void> {
  if (!isSqlite(db) || !(await hasRecords(db))) return;
  await sql`pragma secure_delete = on`.execute(db);
  // A copy of a large database does not fit into memory.
  await sql`pragma temp_store = file`.execute(db);
  try {
    await sql`vacuum`.execute(db);
  } catch (cause) {
    const hint = 'free twice the disk space that it takes, and start again';
    throw new StartupError(`the database cannot be rebuilt: ${(cause as Error).message}`, hint, { cause });
  }
  await sql`pragma temp_store = memory`.execute(db);
}

/** Replaces idempotency keys by their hashes, and seals stored responses. Decision 0027. */
export async function up(db: Kysely<Columns>): Promise<void> {
  // A replica of the version before may still be running: what it is storing is waited for, what comes later fails.
  if (!isSqlite(db)) await sql`lock table idempotency in access exclusive mode`.execute(db);
  await db.schema
    .createTable('idempotency_sealed')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('key_hash', 'text', (c) => c.notNull())
    .addColumn('fingerprint_version', 'integer', (c) => c.notNull())
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('token_id', 'text')
    .addColumn('sealed_response', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('idempotency_by_hash', ['account_id', 'key_hash'])
    .execute();

  for await (const records of readRecords(db)) {
    await db.insertInto('idempotency_sealed').values(records.map(seal)).execute();
  }
  await db.schema.dropTable('idempotency').execute();
  await db.schema.alterTable('idempotency_sealed').renameTo('idempotency').execute();
  await db.schema.createIndex('idempotency_by_age').on('idempotency').column('created_at').execute();
  await hashResolvedKeys(db);
}

/** Empties SQLite's log, which still holds what was there before. */
export async function after(db: Kysely<Columns>): Promise<void> {
  if (isSqlite(db)) await sql`pragma wal_checkpoint(truncate)`.execute(db);
}

const isSqlite = (db: Kysely<Columns>): boolean => db.getExecutor().adapter instanceof SqliteAdapter;

/** Whether there can be records: a new database has no table for them yet. */
async function hasRecords(db: Kysely<Columns>): Promise<boolean> {
  const tables = await db.introspection.getTables();
  return tables.some(({ name }) => name === 'idempotency');
}

async function* readRecords(db: Kysely<Columns>): AsyncGenerator<Before[]> {
  let last: Before | undefined;
  do {
    let query = db
      .selectFrom('idempotency')
      .selectAll()
      .orderBy('account_id')
      .orderBy('idempotency_key')
      .limit(BATCH_SIZE);
    const { account_id, idempotency_key } = last ?? {};
    if (account_id !== undefined && idempotency_key !== undefined) {
      query = query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('account_id', 'idempotency_key'), '>', tuple(account_id, idempotency_key)),
      );
    }
    const records = await query.execute();
    if (records.length > 0) yield records;
    last = records.at(-1);
  } while (last !== undefined);
}

function seal({ idempotency_key, status, content_type, body, ...record }: Before): After {
  const { account_id, fingerprint } = record;
  const { hash, sealingKey } = deriveKey(account_id as AccountId, idempotency_key);
  const hasResponse = status !== null && content_type !== null && body !== null;
  return {
    ...record,
    key_hash: hash,
    token_id: null,
    sealed_response: hasResponse
      ? sealResponse(
          { status, contentType: content_type, body },
          sealingKey,
          { accountId: account_id as AccountId, fingerprint, tokenId: null },
          randomBytes(NONCE_BYTES),
        )
      : null,
  };
}

/** Audit rows named the idempotency keys that an operator had resolved. */
async function hashResolvedKeys(db: Kysely<Columns>): Promise<void> {
  const rows = await db.selectFrom('audit').selectAll().where('action', '=', 'idempotency.resolve').execute();
  for (const { account_id, id, subject } of rows) {
    await db
      .updateTable('audit')
      .set({ subject: deriveKey(account_id as AccountId, subject).hash })
      .where('account_id', '=', account_id)
      .where('id', '=', id)
      .execute();
  }
}
