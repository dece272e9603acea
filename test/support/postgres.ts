import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/store/store.ts';
import { endUnavailable, openPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL server that the run may make databases on. */
    postgres: string;
    /** A database of that server that every test's own is a copy of: empty, its schema up to date. */
    postgresTemplate: string;
  }
}

/** Gives the run a PostgreSQL server, which is stopped at the end. */
export default async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  // Projects that run together share it.
  if (vitest.getRootProject().getProvidedContext().postgres !== undefined) return async () => {};
  // What it holds is not needed after the run, so it need not wait for the disk.
  const server = await openPostgres({ fsync: 'off', max_connections: 400 }).catch(endUnavailable);
  const template = `lkm_test_${randomBytes(4).toString('hex')}`;
  await query(server.url, `create database ${template}`);
  await (await openStore(databaseUrl(server.url, template), { migrate: true })).close();
  vitest.provide('postgres', server.url);
  vitest.provide('postgresTemplate', template);
  return async () => {
    // The databases of a server of our own go with it.
    if (server.restart === null) await dropDatabases(server.url, template);
    await server.stop();
  };
}

async function dropDatabases(server: string, prefix: string): Promise<void> {
  for (const { datname } of await query(server, `select datname from pg_database where datname like '${prefix}%'`)) {
    await query(server, `drop database ${datname} with (force)`);
  }
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
