import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openInstance } from '../src/server/runtime.ts';
import { databaseUrl, query } from '../test/support/postgres.ts';
import { openPostgres, type PostgresPair, type PostgresServer } from '../test/support/postgres-server.ts';
import type { SmallDisk } from './small-disk.ts';
import { readPostgres, readSqlite, type Snapshot } from './snapshot.ts';

export type Engine = 'sqlite' | 'postgres';

/** A database with one product and one admin token. */
export interface World {
  readonly engine: Engine;
  /** What `lkm serve` gets as `--db`. */
  readonly db: string;
  readonly accountId: string;
  readonly token: string;
  readonly productId: string;
  /** The command that a server is started through; none when the database is where everybody sees it. */
  readonly through: readonly string[];
  /** A disk that can be filled, with the database or the log on it. */
  readonly disk?: SmallDisk;
  /** The primary that the database is on, and its standby. */
  readonly pair?: PostgresPair;
  /** All that is durable in it, read beside the server. */
  read(): Promise<Snapshot>;
  remove(): Promise<void>;
}

/** A PostgreSQL server for the run. */
export interface Cluster extends PostgresServer {
  /** Makes an empty database and returns its address. */
  createDatabase(): Promise<string>;
  dropDatabase(url: string): Promise<void>;
}

/** The server that `LKM_TEST_POSTGRES` names, or one of our own in a temporary folder. */
export async function openCluster(): Promise<Cluster> {
  const server = await openPostgres({ max_connections: 100 });
  let made = 0;
  return {
    ...server,
    async createDatabase() {
      made += 1;
      const name = `lkm_faults_${process.pid}_${made}`;
      await query(server.url, `create database ${name}`);
      return databaseUrl(server.url, name);
    },
    async dropDatabase(url) {
      await query(server.url, `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
    },
  };
}

/** Makes a new database of an engine. */
export async function makeWorld(engine: Engine, cluster: Cluster | null): Promise<World> {
  if (engine === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'lkm-faults-'));
    const db = join(folder, 'lkm.db');
    const prepared = await prepare(db);
    noteUses(db);
    const remove = async () => rmSync(folder, { recursive: true, force: true });
    return { engine, db, ...prepared, through: [], read: async () => readSqlite(db), remove };
  }
  if (cluster === null) throw new Error('there is no PostgreSQL to run on');
  const db = await cluster.createDatabase();
  const remove = () => cluster.dropDatabase(db);
  return { engine, db, ...(await prepare(db)), through: [], read: () => readPostgres(db), remove };
}

/** Notes a use of today for every token, which a server would else write down by itself, 10 s after the first use. */
function noteUses(path: string): void {
  const database = new DatabaseSync(path);
  database.prepare(`update tokens set last_used_on = date('now')`).run();
  database.close();
}

/** Makes an account in an empty database, with one product and one admin token. */
export async function prepare(db: string): Promise<{ accountId: string; token: string; productId: string }> {
  const instance = await openInstance({ db });
  const post = async (path: string, body: object) => {
    const answer = await instance.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${instance.ownerToken}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    return ((await answer.json()) as { data: { id: string; token: string } }).data;
  };
  const product = await post('/product', { name: 'given' });
  const token = await post('/token', { kind: 'admin', name: 'given' });
  await instance.close();
  return { accountId: instance.accountId, token: token.token, productId: product.id };
}
