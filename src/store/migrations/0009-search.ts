import { type Kysely, sql } from 'kysely';
import { phrasesOf } from '../search.ts';
import { clustered, isSqlite } from './clustered.ts';

interface Before {
  customers: { account_id: string; id: string; name: string; email: string | null };
  licenses: { account_id: string; id: string; metadata: string };
  devices: { account_id: string; license_id: string; host_id: string; tag: string | null };
  search_phrases: Phrase;
  license_metadata: { account_id: string; name: string; value: string; license_id: string };
}

interface Phrase {
  account_id: string;
  phrase: string;
  kind: string;
  owner_id: string;
  detail: string;
}

const BATCH = 500;

/** What lists of keys are found by, and the versions of products. Decisions 0052 and 0054. */
export async function up(db: Kysely<Before>): Promise<void> {
  await makeTables(db);
  await makeIndexes(db);
  await fillMetadata(db);
  await fillPhrases(db, 'customers', ['id'], ['name', 'email'], (row) => ['customer', row.id ?? '', '']);
  await fillPhrases(db, 'devices', ['license_id', 'host_id'], ['host_id', 'tag'], (row) => [
    'device',
    row.license_id ?? '',
    row.host_id ?? '',
  ]);
}

async function makeTables(db: Kysely<Before>): Promise<void> {
  // A range of texts has to be the same under every locale; SQLite compares bytes anyway.
  const bytewise = isSqlite(db) ? sql`text` : sql`text collate "C"`;
  await db.schema
    .createTable('search_phrases')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('phrase', bytewise, (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.notNull())
    .addColumn('detail', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('search_phrases_pk', ['account_id', 'phrase', 'kind', 'owner_id', 'detail'])
    .$call(clustered(db))
    .execute();
  await db.schema
    .createTable('license_metadata')
    .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('license_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('license_metadata_pk', ['account_id', 'name', 'value', 'license_id'])
    .$call(clustered(db))
    .execute();
  await db.schema
    .createTable('product_versions')
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('product_id', 'text', (c) => c.notNull())
    .addColumn('version', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('active', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('product_versions_pk', ['account_id', 'id'])
    .addUniqueConstraint('product_versions_name', ['account_id', 'product_id', 'version'])
    .addForeignKeyConstraint('product_versions_product', ['account_id', 'product_id'], 'products', ['account_id', 'id'])
    .execute();
}

/**
 * The indexes that answer lists of keys, each with ids in order behind what it finds, and what counting needs behind
 * them. One that holds a part of the keys is used by statements that say the same condition in the same words; what
 * they compare stands before the id, since SQLite would otherwise read on in the primary key.
 */
const indexes = [
  sql`create index licenses_by_customer on licenses (account_id, customer_id, id) where customer_id is not null`,
  sql`create index licenses_by_product on licenses (account_id, product_id, id)`,
  sql`create index licenses_by_end on licenses (account_id, expires_at, id, vendor_disabled, product_id)
    where expires_at is not null`,
  sql`create index licenses_blocked on licenses (account_id, vendor_disabled, id) where vendor_disabled = 1`,
  sql`create index licenses_unused on licenses (account_id, activations, id, vendor_disabled, expires_at)
    where activations = 0`,
  sql`create index licenses_full on licenses
    (account_id, (case when activations >= max_activations then 1 end), id, vendor_disabled, expires_at)
    where activations >= max_activations`,
  sql`create index licenses_trial on licenses (account_id, is_trial, id) where is_trial = 1`,
  sql`create index licenses_floating on licenses (account_id, license_type, id) where license_type = 'floating'`,
  sql`create index licenses_by_fill on licenses (account_id, (activations * 100 / max_activations), id)
    where max_activations > 1 and activations > 0`,
  sql`create index devices_by_time on devices (account_id, created_at)`,
];

async function makeIndexes(db: Kysely<Before>): Promise<void> {
  await db.schema.dropIndex('licenses_by_customer').execute();
  for (const index of indexes) await index.execute(db);
}

async function fillMetadata(db: Kysely<Before>): Promise<void> {
  for await (const rows of readAll(db, 'licenses', ['id'])) {
    const entries = rows.flatMap(({ account_id = '', id = '', metadata }) =>
      Object.entries(JSON.parse(metadata ?? '{}')).map(([name, value]) => ({
        account_id: account_id ?? '',
        name,
        value: String(value),
        license_id: id ?? '',
      })),
    );
    await inBatches(entries, (batch) => db.insertInto('license_metadata').values(batch).execute());
  }
}

async function fillPhrases(
  db: Kysely<Before>,
  table: 'customers' | 'devices',
  key: readonly string[],
  texts: readonly string[],
  ownerOf: (row: Row) => readonly [kind: string, owner: string, detail: string],
): Promise<void> {
  for await (const rows of readAll(db, table, key)) {
    const phrases = rows.flatMap((row): Phrase[] => {
      const [kind, owner_id, detail] = ownerOf(row);
      return phrasesOf(...texts.map((column) => row[column] ?? null)).map((phrase) => ({
        account_id: row.account_id ?? '',
        phrase,
        kind,
        owner_id,
        detail,
      }));
    });
    await inBatches(phrases, (batch) => db.insertInto('search_phrases').values(batch).execute());
  }
}

type Row = Readonly<Record<string, string | null>>;

async function* readAll(db: Kysely<Before>, table: string, key: readonly string[]): AsyncGenerator<readonly Row[]> {
  const columns = ['account_id', ...key];
  const names = sql.join(columns.map((column) => sql.ref(column)));
  let behind = sql`1 = 1`;
  for (;;) {
    const { rows } = await sql<Row>`
      select * from ${sql.table(table)} where ${behind} order by ${names} limit ${sql.lit(BATCH)}
    `.execute(db);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return;
    behind = sql`(${names}) > (${sql.join(columns.map((column) => last[column]))})`;
  }
}

async function inBatches<T>(items: readonly T[], insert: (batch: T[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += BATCH) await insert(items.slice(from, from + BATCH));
}
