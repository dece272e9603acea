import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/store/store.ts';
import { endUnavailable, openPostgres, type Settings } from './postgres-server.ts';

/** A PostgreSQL server that tests may make databases on; vitest hands both to them. */
export interface PostgresTemplate {
  readonly url: string;
  /** A database of that server that every test's own is a copy of: empty, its schema up to date. */
  readonly template: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: string;
    postgresTemplate: string;
  }
}

/** Gives the run a PostgreSQL server, which is stopped at the end. */
export default async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  // Projects that run together share it.
  if (vitest.getRootProject().getProvidedContext().postgres !== undefined) return async () => {};
  // What it holds is not needed after the run, so it need not wait for the disk.
  const { url, template, stop } = await openTemplate({ fsync: 'off', max_connections: 400 }).catch(endUnavailable);
  vitest.provide('postgres', url);
  vitest.provide('postgresTemplate', template);
  return stop;
}

/** A server with a template; when it is stopped, all copies of that go with it. */
export async function openTemplate(settings: Settings): Promise<PostgresTemplate & { stop(): Promise<void> }> {
  const { url, restart, stop } = await openPostgres(settings);
  const template = `lkm_test_${randomBytes(4).toString('hex')}`;
  await query(url, `create database ${template}`);
  await (await openStore(databaseUrl(url, template), { migrate: true })).close();
  return {
    url,
    template,
    async stop() {
      const databases = await query(url, `select datname from pg_database where datname like '${template}%'`);
      // The databases of a server of our own go with it.
      if (restart === null)
        for (const { datname } of databases) await query(url, `drop database ${datname} with (force)`);
      await stop();
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
