import { DatabaseSync } from 'node:sqlite';
import { query } from '../test/support/postgres.ts';

/** The columns that are looked at, of the tables whose rows carry the mark of the intent that made them. */
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
}

export type MarkedTable = keyof Tables;
export type Row<T extends MarkedTable> = Tables[T];

/** The mark of a row; null for what was there before. */
const marks: { readonly [T in MarkedTable]: (row: Tables[T]) => string | null } = {
  licenses: ({ features }) => String((JSON.parse(features) as { intent?: unknown }).intent ?? ''),
  devices: ({ host_id }) => host_id,
  customers: ({ name }) => (name === 'given' ? null : name),
  products: ({ name }) => (name === 'given' ? null : (name.split('/')[0] ?? '')),
  tokens: ({ name }) => (name === 'given' ? null : name),
  sessions: ({ user_identifier }) => user_identifier ?? '',
};

/** The tables whose rows carry marks. */
export const markedTables = Object.keys(marks) as readonly MarkedTable[];

/** What is recorded, not numbered yet and numbered, and what is stored under keys. */
interface Others {
  readonly idempotency: readonly { readonly key_hash: string; readonly sealed_response: string | null }[];
  readonly outbox: readonly { readonly entry: string }[];
  readonly audit: readonly {
    readonly seq: number;
    readonly operation: string;
    readonly content: string;
    readonly hash: string;
  }[];
  readonly events: readonly { readonly seq: number; readonly content: string }[];
}

/** Rows of each table, those with marks by their marks. */
export type Snapshot = { readonly [T in MarkedTable]: ReadonlyMap<string, readonly Tables[T][]> } & Others & {
    /** What the engine says of its own file; empty when it is whole. */
    readonly damage: readonly string[];
  };

const READ = [...markedTables, 'idempotency', 'outbox', 'audit', 'events'];

/** Reads a SQLite file that a server may have open, and checks it. */
export function readSqlite(path: string): Snapshot {
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const all = (sql: string) => database.prepare(sql).all();
  database.exec('BEGIN');
  try {
    const tables = Object.fromEntries(READ.map((table) => [table, all(`select * from ${table}`)]));
    const damage = [...all('PRAGMA integrity_check'), ...all('PRAGMA foreign_key_check')]
      .filter((row) => row.integrity_check !== 'ok')
      .map((row) => JSON.stringify(row));
    return toSnapshot(tables, damage);
  } catch (error) {
    // So damaged that it cannot be read.
    return toSnapshot(Object.fromEntries(READ.map((table) => [table, []])), [String(error)]);
  }
}

/** Whether all that was recorded in a SQLite file is numbered: a server that nobody asks then writes nothing more. */
export function isQuiet(path: string): boolean {
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  return database.prepare('select 1 from outbox limit 1').get() === undefined;
}

/** Reads a PostgreSQL database in one statement, which sees one state of it. */
export async function readPostgres(url: string): Promise<Snapshot> {
  const columns = READ.map((table) => `(select coalesce(json_agg(t), '[]') from ${table} t) as ${table}`);
  const [tables = {}] = await query(url, `select ${columns.join(', ')}`);
  return toSnapshot(tables as Record<string, unknown[]>, []);
}

function toSnapshot(tables: Record<string, unknown[]>, damage: readonly string[]): Snapshot {
  const byMark = markedTables.map((table) => {
    const markOf = marks[table] as (row: unknown) => string | null;
    const marked = (tables[table] ?? []).filter((row) => markOf(row) !== null);
    return [table, Map.groupBy(marked, (row) => String(markOf(row)))];
  });
  return { ...tables, ...Object.fromEntries(byMark), damage } as unknown as Snapshot;
}
