import { type Kysely, sql } from 'kysely';
import { type AccountTable, listAccountTables, listIndexes, listObstacles, listReferences } from './account-tables.ts';
import type { Tables } from './schema.ts';
import { StartupError } from './startup-error.ts';
import { untilAlone } from './until-alone.ts';

/** A table that was divided, with the rows that it had. */
export interface PartitionedTable {
  readonly table: string;
  readonly partitions: number;
  readonly rows: number;
}

/**
 * Divides every table of a PostgreSQL database whose rows belong to accounts into partitions by account, and returns those
 * that it has divided: none when all are. Each table is one transaction, so that a run that was ended goes on.
 *
 * @param onTable called after each table
 * @throws StartupError when a server is connected, or a table is in another number of partitions
 */
export async function partition(
  db: Kysely<Tables>,
  partitions: number,
  onTable: (table: string, rows: number) => void,
): Promise<PartitionedTable[]> {
  // A server has statements prepared for the tables as they were.
  await untilAlone(db);
  const tables = (await listAccountTables(db)).filter(({ canBeDivided }) => canBeDivided);
  const other = tables.find((table) => table.partitions !== 0 && table.partitions !== partitions);
  if (other !== undefined) {
    throw new StartupError(
      `${other.name} is in ${other.partitions} partitions`,
      `give this number, or copy the database into a new one that has ${partitions}: lkm db copy`,
    );
  }
  const whole = tables.filter((table) => table.partitions === 0);
  const obstacle = (await listObstacles(db)).find(({ table }) => whole.some(({ name }) => name === table));
  if (obstacle !== undefined) {
    throw new StartupError(obstacle.text, 'what lkm did not make has to be away first; make it again afterwards');
  }

  const divided: PartitionedTable[] = [];
  for (const table of whole) {
    const rows = await divide(db, table, partitions);
    divided.push({ table: table.name, partitions, rows });
    await sql`analyze ${sql.table(table.name)}`.execute(db);
    onTable(table.name, rows);
  }
  return divided;
}

/** Puts a partitioned table with the same columns, constraints, indexes, rights and rows in the place of a table. */
async function divide(db: Kysely<Tables>, { name, grants }: AccountTable, partitions: number): Promise<number> {
  const whole = `${name}_whole`;
  return db.transaction().execute(async (run) => {
    const execute = async (statement: string): Promise<number> => {
      const { numAffectedRows } = await sql.raw(statement).execute(run);
      return Number(numAffectedRows ?? 0);
    };
    await execute(`set local lock_timeout = '5s'`);
    await execute(`lock table "${name}" in access exclusive mode`);
    const references = await listReferences(run, name);
    const indexes = await listIndexes(run, name);

    for (const { table, constraint } of references) await execute(`alter table ${table} drop constraint ${constraint}`);
    await execute(`alter table "${name}" rename to "${whole}"`);
    await execute(
      `create table "${name}" (like "${whole}" including all excluding indexes) partition by hash (account_id)`,
    );
    for (let i = 0; i < partitions; i += 1) {
      const values = `with (modulus ${partitions}, remainder ${i})`;
      await execute(`create table "${name}_p${i}" partition of "${name}" for values ${values}`);
    }
    const rows = await execute(`insert into "${name}" select * from "${whole}"`);
    // Its names are free then for those that take its place.
    await execute(`drop table "${whole}"`);
    for (const definition of indexes) await execute(definition);
    for (const grant of grants) await execute(grant);
    for (const { table, constraint, definition } of references) {
      await execute(`alter table ${table} add constraint ${constraint} ${definition}`);
    }
    return rows;
  });
}
