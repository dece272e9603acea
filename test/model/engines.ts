import { randomUUID } from 'node:crypto';
import { openStore } from '../../src/store/store.ts';
import { type Engine, engines } from '../support/engines.ts';
import { connect, databaseUrl, query } from '../support/postgres.ts';
import { openPostgres } from '../support/postgres-server.ts';

/** An engine outside of vitest, with the server that it needs. */
export interface OpenEngine extends AsyncDisposable {
  readonly engine: Engine;
}

/** Opens an engine by its name: `sqlite` or `postgres`. */
export async function openEngine(name: string): Promise<OpenEngine> {
  if (name === 'postgres') return openPostgresEngine();
  const sqlite = engines.find((engine) => engine.name === 'SQLite');
  if (name !== 'sqlite' || sqlite === undefined) throw new Error(`there is no engine ${name}`);
  return { engine: sqlite, [Symbol.asyncDispose]: async () => {} };
}

async function openPostgresEngine(): Promise<OpenEngine> {
  const server = await openPostgres({ fsync: 'off' });
  const name = `lkm_model_${randomUUID().replaceAll('-', '')}`;
  await query(server.url, `create database ${name}`);
  const location = databaseUrl(server.url, name);
  const engine: Engine = {
    name: 'PostgreSQL',
    async createDatabase() {
      const store = await openStore(location);
      const client = await connect(location);
      const { rows } = await client.query(
        `select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely_%'`,
      );
      // Whoever asks for another database has done with the one before.
      await client.query(`truncate ${rows.map(({ tablename }) => tablename).join(', ')}`);
      return {
        location,
        store,
        query: async (sql) => (await client.query(sql)).rows,
        listTables: async () => [],
        [Symbol.asyncDispose]: async () => {
          await store.close();
          await client.end();
        },
      };
    },
  };
  return {
    engine,
    [Symbol.asyncDispose]: async () => {
      await query(server.url, `drop database ${name} with (force)`);
      await server.stop();
    },
  };
}
