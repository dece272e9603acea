import pg from 'pg';
import { openPostgres } from '../test/support/postgres-server.ts';

/** A PostgreSQL server for the run. */
export interface Cluster {
  /** Makes an empty database and answers its address. */
  createDatabase(): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  /** Stops it in order and starts it again; null where it is not ours to stop. */
  readonly restart: (() => Promise<void>) | null;
  /** Kills its first process and starts it again; null where it is not ours to kill. */
  readonly crash: (() => Promise<void>) | null;
  close(): Promise<void>;
}

/** The server that `LKM_TEST_POSTGRES` names, or one of our own in a temporary folder. */
export async function openCluster(): Promise<Cluster> {
  const { url, restart, crash, stop } = await openPostgres({ max_connections: 100 });
  return { ...databasesOn(url), restart, crash, close: stop };
}

function databasesOn(url: string): Pick<Cluster, 'createDatabase' | 'dropDatabase'> {
  let count = 0;
  const ask = async (sql: string) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  return {
    async createDatabase() {
      count += 1;
      const name = `lkm_faults_${process.pid}_${count}`;
      await ask(`create database ${name}`);
      const address = new URL(url);
      address.pathname = `/${name}`;
      return address.href;
    },
    dropDatabase: (address) => ask(`drop database if exists ${new URL(address).pathname.slice(1)} with (force)`),
  };
}
