import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inject } from 'vitest';
import { openStore, type Store } from '../../src/store/store.ts';
import { connect, databaseUrl, type PostgresTemplate, query } from './postgres.ts';

/** A row as the engine gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** A fresh database, opened by the store, and a connection for SQL beside the store. */
export interface TestDatabase extends AsyncDisposable {
  /** What `openStore` opened. */
  readonly location: string;
  readonly store: Store;
  /** Runs SQL on another connection. Values are part of the text, since the engines write placeholders differently. */
  query(sql: string): Promise<Row[]>;
  /** All tables except that of migrations; a table comes after the tables that refer to it. */
  listTables(): Promise<string[]>;
}

/** A database engine that the service runs on. A new engine is one more entry in `engines`. */
export interface Engine {
  readonly name: string;
  createDatabase(): Promise<TestDatabase>;
}

export const sqlite: Engine = {
  name: 'SQLite',
  async createDatabase() {
    const folder = await createFolder();
    const location = join(folder.path, 'lkm.db');
    const store = await openStore(location);
    const database = new DatabaseSync(location, { timeout: 5_000 });
    const query = async (sql: string) => database.prepare(sql).all();
    return {
      location,
      store,
      query,
      listTables: async () =>
        namesIn(
          await query(
            `select m.name from sqlite_master as m join pragma_table_list as t on t.name = m.name and t.type = 'table'
             where t.schema = 'main' and m.name <> 'lkm_migrations' order by m.rowid desc`,
          ),
        ),
      [Symbol.asyncDispose]: async () => {
        database.close();
        // A test may have closed it already.
        await store.close().catch(() => {});
        await folder[Symbol.asyncDispose]();
      },
    };
  },
};

interface Spare {
  readonly name: string;
  readonly location: string;
  readonly client: Awaited<ReturnType<typeof connect>>;
}

/** PostgreSQL, with databases that are copies of a template. */
export function postgresOn(place: () => PostgresTemplate): Engine {
  /** Emptied databases to use again, each with a connection: creating one takes longer than most tests. */
  const spare: Spare[] = [];

  async function makeDatabase({ url, template }: PostgresTemplate): Promise<Spare> {
    const name = `${template}_${randomUUID().replaceAll('-', '')}`;
    await query(url, `create database ${name} template ${template}`);
    const location = databaseUrl(url, name);
    const client = await connect(location);
    // The server may be stopped before this process is.
    client.on('error', () => {});
    return { name, location, client };
  }

  return {
    name: 'PostgreSQL',
    async createDatabase() {
      const server = place();
      const made = spare.pop() ?? (await makeDatabase(server));
      const { name, location, client } = made;
      const store = await openStore(location);
      let isAltered = false;
      const listTables = async () =>
        namesIn(
          (
            await client.query(
              `select relname as name from pg_class
               where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
                 and relname <> 'lkm_migrations'
               order by oid desc`,
            )
          ).rows,
        );
      return {
        location,
        store,
        listTables,
        query: async (sql) => {
          isAltered ||= /^\s*(alter|create|drop)|lkm_migrations/i.test(sql);
          return (await client.query(sql)).rows;
        },
        [Symbol.asyncDispose]: async () => {
          // A test may have closed it already.
          await store.close().catch(() => {});
          if (isAltered) {
            await client.end();
            await query(server.url, `drop database ${name} with (force)`);
            return;
          }
          // `truncate` would take a tenth of a second, since each table has files of its own.
          await client.query((await listTables()).map((table) => `delete from ${table}`).join(';'));
          spare.push(made);
        },
      };
    },
  };
}

const namesIn = (rows: readonly Row[]): string[] => rows.map(({ name }) => String(name));

const postgres = postgresOn(() => ({ url: inject('postgres'), template: inject('postgresTemplate') }));

const only = process.env.LKM_TEST_ENGINE;

/** The engines that this run tests: all of them, or the one in LKM_TEST_ENGINE. */
export const engines: readonly Engine[] = [sqlite, postgres].filter(({ name }) => only === undefined || only === name);

/** The engine of this name; fails where the run leaves it out. */
export function engineOf(name: 'SQLite' | 'PostgreSQL'): Engine {
  const engine = engines.find((one) => one.name === name);
  if (engine === undefined) throw new Error(`there is no ${name}`);
  return engine;
}

/** A temporary folder for one test. */
export async function createFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'lkm-service-test-'));
  // A process that is told to end, such as a browser, may write into it a moment longer.
  const how = { recursive: true, force: true, maxRetries: 10 } as const;
  return { path, [Symbol.asyncDispose]: () => rm(path, how) };
}

/** The location of a new database: a SQLite file that does not exist yet, or an empty PostgreSQL database. */
export async function newPlace(engine: string): Promise<AsyncDisposable & { readonly location: string }> {
  if (engine === 'SQLite') {
    const folder = await createFolder();
    return { ...folder, location: join(folder.path, 'new.db') };
  }
  const server = inject('postgres');
  const name = `lkm_new_${randomUUID().replaceAll('-', '')}`;
  await query(server, `create database ${name}`);
  const drop = async () => void (await query(server, `drop database ${name} with (force)`));
  return { location: databaseUrl(server, name), [Symbol.asyncDispose]: drop };
}
