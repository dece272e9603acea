import { type Kysely, sql } from 'kysely';
import { alone, isShared } from './alone.ts';
import type { Tables } from './schema.ts';
import { createDataKey, type DataKey, type MasterKey, wrapDataKey } from './secret-box.ts';
import { openDataKey, plainSecrets, type Sealing, type Secrets, sealedSecrets, secretContext } from './secrets.ts';

/** Every column that holds secrets, with the columns that name its row: a new one is one more line. */
const sealedColumns = [
  { table: 'signing_keys', column: 'private_pem', key: ['account_id', 'kid'] },
  { table: 'sessions', column: 'secret', key: ['account_id', 'id'] },
  { table: 'webhooks', column: 'secret', key: ['account_id', 'id'] },
  { table: 'webhooks', column: 'previous_secret', key: ['account_id', 'id'] },
] as const;

/** What a change of the master key has done. */
export interface Rekeyed {
  readonly kept: Secrets['kept'];
  /** How many secrets were written anew. */
  readonly written: number;
}

/**
 * Puts the secrets of a database under another master key, or makes them plain with null, in one transaction. From one
 * master key to another the data key stays, so that servers that run go on; else every secret is written anew.
 *
 * @throws StartupError when `from` is not the master key of the database, or when a server is connected whose secrets
 * would be others than those in the database
 */
export async function rekey(db: Kysely<Tables>, keys: Keys): Promise<Rekeyed> {
  const isSealed = (await findDataKey(db, keys.from)) !== null;
  if (isSealed === (keys.to !== null)) return write(db, keys);
  return alone(db, () => write(db, keys, isShared(db)));
}

interface Keys {
  readonly from: MasterKey | null;
  readonly to: MasterKey | null;
  readonly random: Sealing['random'];
}

function write(db: Kysely<Tables>, { from, to, random }: Keys, locksSecrets = false): Promise<Rekeyed> {
  return db.transaction().execute(async (transaction) => {
    if (locksSecrets) await lockSecrets(transaction);
    const old = await findDataKey(transaction, from);
    await transaction.deleteFrom('data_keys').execute();
    const key = to === null ? null : (old ?? createDataKey(random));
    if (to !== null && key !== null) {
      await transaction
        .insertInto('data_keys')
        .values({ slot: 'current', ...wrapDataKey(to, key, random) })
        .execute();
    }
    const secretsOf = (one: DataKey | null) => (one === null ? plainSecrets : sealedSecrets(one, random));
    const written = key === old ? 0 : await moveSecrets(transaction, secretsOf(old), secretsOf(key));
    return { kept: key === null ? 'plain' : 'sealed', written };
  });
}

/** Nobody adds a secret, or changes one, until the transaction ends. */
async function lockSecrets(transaction: Kysely<Tables>): Promise<void> {
  const tables = new Set(sealedColumns.map(({ table }) => table));
  const names = sql.join([...tables].map((table) => sql.table(table)));
  await sql`lock table ${names} in share row exclusive mode`.execute(transaction);
}

async function findDataKey(db: Kysely<Tables>, master: MasterKey | null): Promise<DataKey | null> {
  const wrapped = await db.selectFrom('data_keys').selectAll().executeTakeFirst();
  return wrapped === undefined ? null : openDataKey(master, { wrapped, isUsed: true });
}

async function moveSecrets(db: Kysely<Tables>, from: Secrets, to: Secrets): Promise<number> {
  let moved = 0;
  for (const { table, column, key } of sealedColumns) {
    const columns = sql.join([column, ...key].map((name) => sql.ref(name)));
    const given = sql`${sql.ref(column)} is not null`;
    const selected = sql<Record<string, string>>`select ${columns} from ${sql.table(table)} where ${given}`;
    const { rows } = await selected.execute(db);
    for (const row of rows) {
      const context = secretContext(table, ...key.map((name) => String(row[name])));
      const secret = to.sealSecret(from.openSecret(String(row[column]), context), context);
      const same = sql.join(
        key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
        sql` and `,
      );
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${secret} where ${same}`.execute(db);
      moved += 1;
    }
  }
  return moved;
}
