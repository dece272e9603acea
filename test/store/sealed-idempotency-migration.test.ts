import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { listResolvedRequests } from '../../src/operator/index.ts';
import { fingerprintOf } from '../../src/server/idempotency/fingerprint.ts';
import { openInstance } from '../../src/server/runtime.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { deriveKey } from '../../src/store/response-sealing.ts';
import type { Tables } from '../../src/store/schema.ts';
import { createFolder, engines } from '../support/engines.ts';
import { databaseUrl, query } from '../support/postgres.ts';

const ACCOUNT = 'acc_00000000000000000000000001';
const BODY = JSON.stringify({ name: 'Editor' });
const RESPONSE = '{"action":"products.create","status":true,"data":{"note":"SECRET-response é"},"code":0}';
const TODAY = '2026-11-21T10:00:00.000Z';

/** More than the migration reads at a time. */
const RECORDS = 1_203;

/** A place for a database of the engine, where none is yet. */
async function newPlace(engine: string): Promise<AsyncDisposable & { readonly location: string }> {
  if (engine === 'SQLite') {
    const folder = await createFolder();
    return { location: join(folder.path, 'old.db'), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  }
  const server = inject('postgres');
  const name = `lkm_sealed_${process.pid}_${performance.now()}`.replace('.', '_');
  await query(server, `create database ${name}`);
  return {
    location: databaseUrl(server, name),
    [Symbol.asyncDispose]: async () => {
      await query(server, `drop database ${name} with (force)`);
    },
  };
}

/** Writes a database as the version before left it: with clear keys and responses, some of them deleted. */
async function writeOldDatabase(location: string): Promise<void> {
  const { kysely, close } = await openDatabase(location);
  // The version before left deleted bytes in the file.
  if (!location.startsWith('postgres')) await sql`pragma secure_delete = off`.execute(kysely);
  const old = Object.fromEntries(Object.entries(migrations).slice(0, 3));
  const { error } = await new Migrator({
    db: kysely,
    provider: { getMigrations: async () => old },
  }).migrateToLatest();
  if (error !== undefined) throw error;
  await sql`insert into accounts values (${ACCOUNT}, 'default', ${TODAY})`.execute(kysely);

  const fingerprint = fingerprintOf('POST', '/product', Buffer.from(BODY));
  const completed = { version: 1, state: 'completed', response: RESPONSE };
  await insert(kysely, 'SECRET-key-completed', fingerprint, completed);
  await insert(kysely, 'SECRET-key-running', fingerprint, { ...completed, state: 'in_progress', response: null });
  await insert(kysely, 'SECRET-key-legacy', fingerprint, { ...completed, version: 0 });
  await insert(kysely, 'SECRET-key-missing', fingerprint, { ...completed, response: null });
  await kysely.transaction().execute(async (transaction) => {
    for (let i = 0; i < RECORDS; i += 1) await insert(transaction, `SECRET-key-${i}`, fingerprint, completed);
    const large = { ...completed, response: 'SECRET-gone-'.repeat(500) };
    for (let i = 0; i < 400; i += 1) await insert(transaction, `SECRET-gone-${i}`, fingerprint, large);
  });
  await sql`delete from idempotency where idempotency_key like 'SECRET-gone-%'`.execute(kysely);

  await sql`insert into audit values
    (${ACCOUNT}, 'aud_1', 'idempotency.resolve', 'ops@here', 'SECRET-key-resolved', '{"outcome":"abandoned"}', ${TODAY}),
    (${ACCOUNT}, 'aud_2', 'other.action', 'ops@here', 'subject', '{}', ${TODAY})`.execute(kysely);
  await close();
}

async function insert(
  kysely: Kysely<Tables>,
  key: string,
  fingerprint: string,
  { version, state, response }: { version: number; state: string; response: string | null },
): Promise<void> {
  const [status, type] = response === null ? [null, null] : [201, 'application/json'];
  await sql`insert into idempotency values
    (${ACCOUNT}, ${key}, ${version}, ${fingerprint}, ${state}, 'POST', '/product', ${status}, ${type}, ${response}, ${TODAY})
  `.execute(kysely);
}

/** Everything that the database keeps, as one text. */
async function everythingIn(location: string): Promise<string> {
  if (location.startsWith('postgres')) {
    const tables = await query(location, `select tablename as name from pg_tables where schemaname = 'public'`);
    const rows = await Promise.all(tables.map(({ name }) => query(location, `select * from ${name}`)));
    return rows
      .flat()
      .flatMap((row) => Object.values(row))
      .join('\n');
  }
  const files = [location, `${location}-wal`].filter((path) => existsSync(path));
  return files.map((path) => readFileSync(path, 'latin1')).join('\n');
}

describe.each(engines)('a database with clear idempotency records on $name', ({ name: engine }) => {
  it('keeps each record working, and nothing of it in clear, from its migration on', async () => {
    await using place = await newPlace(engine);
    await writeOldDatabase(place.location);
    const before = await everythingIn(place.location);
    expect(before).toContain('SECRET-response');
    if (engine === 'SQLite') expect(before).toContain('SECRET-gone-');

    const instance = await openInstance({ db: place.location });
    const retry = async (key: string) => {
      const response = await instance.fetch(
        new Request('http://lkm.test/product', {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${instance.ownerToken}`,
            'Content-Type': 'application/json',
            'Idempotency-Key': key,
          },
          body: BODY,
        }),
      );
      return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
    };
    const expectNoSecret = async () => {
      const kept = await everythingIn(place.location);
      expect(kept).toContain('ops@here');
      expect(kept.match(/SECRET-\w+/)?.[0]).toBeUndefined();
    };
    await expectNoSecret();
    const replay = { status: 201, type: 'application/json', text: RESPONSE };
    for (const key of ['SECRET-key-completed', 'SECRET-key-0', `SECRET-key-${RECORDS - 1}`]) {
      expect(await retry(key)).toEqual(replay);
    }
    expect(await retry('SECRET-key-running')).toMatchObject({ status: 409, text: expect.stringContaining('"code":3') });
    expect(await retry('SECRET-key-legacy')).toMatchObject({ status: 400, text: expect.stringContaining('"code":4') });
    expect(await retry('SECRET-key-missing')).toMatchObject({ status: 409, text: expect.stringContaining('"code":4') });
    expect(await retry('SECRET-gone-0')).toMatchObject({ status: 201, text: expect.stringContaining('prod_') });
    await instance.close();

    await expectNoSecret();
    const { kysely, close } = await openDatabase(place.location);
    const { rows } = await sql<{ records: number }>`select count(*) as records from idempotency`.execute(kysely);
    await close();
    expect(Number(rows[0]?.records)).toBe(RECORDS + 5);
    expect(await listResolvedRequests(place.location)).toMatchObject([
      { hash: deriveKey(ACCOUNT as never, 'SECRET-key-resolved').hash, outcome: 'abandoned' },
    ]);
  });
});

describe('a PostgreSQL database that a server of the version before still changes', () => {
  it('keeps the record of a change that is acknowledged while the migration runs', async () => {
    await using place = await newPlace('PostgreSQL');
    await writeOldDatabase(place.location);
    const old = new pg.Client({ connectionString: place.location });
    old.on('error', () => {});
    await old.connect();
    await old.query('begin');
    await old.query(
      `insert into idempotency values
        ($1, 'SECRET-key-late', 1, $2, 'completed', 'POST', '/product', 201, 'application/json', $3, $4)`,
      [ACCOUNT, fingerprintOf('POST', '/product', Buffer.from(BODY)), RESPONSE, TODAY],
    );
    const opening = openInstance({ db: place.location });
    const waiting = `select 1 from pg_locks where relation = 'idempotency'::regclass and not granted`;
    await expect.poll(() => query(place.location, waiting)).toHaveLength(1);
    await old.query('commit');
    const instance = await opening;
    const { hash } = deriveKey(ACCOUNT as never, 'SECRET-key-late');
    const kept = await query(place.location, `select state from idempotency where key_hash = '${hash}'`);
    expect(kept).toEqual([{ state: 'completed' }]);
    // It is refused from then on: nothing can be done under a key that is already sealed.
    await expect(old.query('select idempotency_key from idempotency')).rejects.toThrow('does not exist');
    await old.end();
    await instance.close();
  });
});
