import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/** The columns that are looked at, by table. */
interface Tables {
  readonly licenses: {
    readonly id: string;
    readonly license_key: string;
    readonly customer_id: string | null;
    readonly features: string;
    readonly activations: number;
    readonly max_activations: number | null;
  };
  readonly devices: { readonly id: string; readonly license_id: string; readonly host_id: string };
  readonly customers: { readonly id: string; readonly name: string };
  readonly products: { readonly id: string; readonly name: string; readonly updated_at: string };
  readonly tokens: { readonly id: string; readonly name: string; readonly revoked_at: string | null };
  readonly sessions: { readonly id: string; readonly user_identifier: string | null };
  readonly idempotency: { readonly key_hash: string; readonly sealed_response: string | null };
  readonly outbox: { readonly entry: string };
  readonly audit: { readonly seq: number; readonly operation: string; readonly content: string; readonly hash: string };
  readonly events: { readonly seq: number; readonly content: string };
}

type Kept = 'licenses' | 'devices' | 'customers' | 'products' | 'tokens' | 'sessions';

const ORDER: readonly Kept[] = ['licenses', 'devices', 'customers', 'products', 'tokens', 'sessions'];

const RECORD = ['outbox', 'audit', 'events'] as const;

const READ = [...ORDER, 'idempotency', ...RECORD] as const;

/** The mark of the intent that made a row; null for what was there before. */
const marks: { readonly [T in Kept]: (row: Tables[T]) => string | null } = {
  licenses: ({ features }) => String((JSON.parse(features) as { intent?: unknown }).intent ?? ''),
  devices: ({ host_id }) => host_id,
  customers: ({ name }) => (name === 'given' ? null : name),
  products: ({ name }) => (name === 'given' ? null : (name.split('/')[0] ?? '')),
  tokens: ({ name }) => (name === 'given' ? null : name),
  sessions: ({ user_identifier }) => user_identifier ?? '',
};

/** Rows of each table by the mark of the intent that made them. */
export type Snapshot = {
  readonly [T in Kept]: ReadonlyMap<string, readonly Tables[T][]>;
} & {
  readonly idempotency: readonly Tables['idempotency'][];
  /** What is recorded: not numbered yet, and numbered. */
  readonly record: { readonly [T in (typeof RECORD)[number]]: readonly Tables[T][] };
  /** What the engine says of its own file; empty when it is whole. */
  readonly damage: readonly string[];
};

/** Reads a SQLite file that a server may have open, and checks it. */
export function readSqlite(path: string): Snapshot {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    database.exec('BEGIN');
    const tables = Object.fromEntries(READ.map((table) => [table, database.prepare(`select * from ${table}`).all()]));
    const found = database
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => String(row.integrity_check));
    const foreign = database
      .prepare('PRAGMA foreign_key_check')
      .all()
      .map((row) => JSON.stringify(row));
    return toSnapshot(tables, [...found.filter((line) => line !== 'ok'), ...foreign]);
  } finally {
    database.close();
  }
}

/** Whether all that was recorded in a SQLite file is numbered: a server that nobody asks then writes nothing more. */
export function isQuiet(path: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    return database.prepare('select 1 from outbox limit 1').get() === undefined;
  } finally {
    database.close();
  }
}

/** Reads a PostgreSQL database in one transaction. */
export async function readPostgres(url: string): Promise<Snapshot> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const tables: Record<string, unknown[]> = {};
    for (const table of READ) tables[table] = (await client.query(`select * from ${table}`)).rows;
    return toSnapshot(tables, []);
  } finally {
    await client.end();
  }
}

function toSnapshot(tables: Record<string, unknown[]>, damage: readonly string[]): Snapshot {
  const byMark = Object.fromEntries(
    ORDER.map((table) => {
      const markOf = marks[table] as (row: unknown) => string | null;
      const rows = new Map<string, unknown[]>();
      for (const row of tables[table] ?? []) {
        const mark = markOf(row);
        if (mark !== null) rows.set(mark, [...(rows.get(mark) ?? []), row]);
      }
      return [table, rows];
    }),
  );
  const record = Object.fromEntries(RECORD.map((table) => [table, tables[table]]));
  return { ...byMark, idempotency: tables.idempotency, record, damage } as unknown as Snapshot;
}

/** The tables whose rows carry marks. */
export const markedTables = ORDER;
