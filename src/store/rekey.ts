import type { Connection, Database } from './engine/driver.ts';
import { and, raw, sql } from './engine/sql.ts';
import {
  createDataKey,
  type DataKey,
  type MasterKey,
  type Random,
  type Secrets,
  secretContext,
  secretsUnder,
  wrapDataKey,
} from './secret-box.ts';
import { openDataKey } from './secrets.ts';
import { dataKeyRepository } from './tables/data-keys.ts';

/** Every column that holds secrets, with the columns that name its row. */
const sealedColumns = [
  { table: 'signing_keys', column: 'private_pem', key: ['account_id', 'kid'] },
  { table: 'sessions', column: 'secret', key: ['account_id', 'id'] },
  { table: 'webhooks', column: 'secret', key: ['account_id', 'id'] },
  { table: 'webhooks', column: 'previous_secret', key: ['account_id', 'id'] },
] as const;

const sealedTables = [...new Set(sealedColumns.map(({ table }) => table))];

export interface Rekeyed {
  readonly kept: Secrets['kept'];
  /** The number of rewritten secrets. */
  readonly written: number;
}

/**
 * Puts the secrets of a database under another master key, or makes them plain with null, in one transaction. From one
 * master key to another the data key stays, so that servers that run go on; else every secret is written anew.
 *
 * @throws StartupError when `from` is not the master key of the database, or when a connected server would go on with the
 * old secrets
 */
export async function rekey(database: Database, keys: Keys): Promise<Rekeyed> {
  const isSealed = (await findDataKey(database.connection, keys.from)) !== null;
  const isShared = database.engine === 'PostgreSQL';
  if (isSealed === (keys.to !== null)) return write(database, keys);
  return database.alone(() => write(database, keys, isShared));
}

interface Keys {
  readonly from: MasterKey | null;
  readonly to: MasterKey | null;
  readonly random: Random;
}

function write(database: Database, { from, to, random }: Keys, locksSecrets = false): Promise<Rekeyed> {
  return database.transaction(async (db) => {
    if (locksSecrets) await db.run(raw(`lock table ${sealedTables.join(', ')} in share row exclusive mode`));
    const old = await findDataKey(db, from);
    const dataKeys = dataKeyRepository(db);
    await dataKeys.remove();
    const key = to === null ? null : (old ?? createDataKey(random));
    if (to !== null && key !== null) await dataKeys.insert(wrapDataKey(to, key, random));
    const written = key === old ? 0 : await moveSecrets(db, secretsUnder(old, random), secretsUnder(key, random));
    return { kept: key === null ? 'plain' : 'sealed', written };
  });
}

async function findDataKey(db: Connection, master: MasterKey | null): Promise<DataKey | null> {
  const wrapped = await dataKeyRepository(db).find();
  return wrapped === null ? null : openDataKey(master, { wrapped, isUsed: true });
}

async function moveSecrets(db: Connection, from: Secrets, to: Secrets): Promise<number> {
  let moved = 0;
  for (const { table, column, key } of sealedColumns) {
    const columns = raw([column, ...key].join(', '));
    const select = sql`select ${columns} from ${raw(table)} where ${raw(column)} is not null`;
    for (const row of await db.all<Record<string, string>>(select)) {
      const values = key.map((name) => String(row[name]));
      const context = secretContext(table, ...values);
      const secret = to.sealSecret(from.openSecret(String(row[column]), context), context);
      const same = and(key.map((name, at) => sql`${raw(name)} = ${values[at] ?? ''}`));
      await db.run(sql`update ${raw(table)} set ${raw(column)} = ${secret} where ${same}`);
      moved += 1;
    }
  }
  return moved;
}
