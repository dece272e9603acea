import type { TestDatabase } from './engines.ts';

/** Makes the first `times` inserts into a table of PostgreSQL fail. A sequence counts them, since it is not undone with them. */
export async function refuseInserts(
  database: Pick<TestDatabase, 'query'>,
  table: string,
  { times, code }: { readonly times: number; readonly code: string },
): Promise<void> {
  await database.query('create sequence inserts');
  await database.query(`create function refuse_insert() returns trigger language plpgsql as $$ begin
    if nextval('inserts') <= ${times} then raise exception 'refused' using errcode = '${code}'; end if;
    return new; end $$`);
  await database.query(
    `create trigger refuse_insert before insert on ${table} for each row execute function refuse_insert()`,
  );
}
