import type { Kysely } from 'kysely';
import { searchText } from '../search.ts';

interface Before {
  customers: { account_id: string; id: string; name: string; email: string | null; search_text: string };
}

const BATCH = 500;

/** The words of customers, so that they are searched in the same way on both engines. */
export async function up(db: Kysely<Before>): Promise<void> {
  await db.schema
    .alterTable('customers')
    .addColumn('search_text', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  for (;;) {
    const rows = await db
      .selectFrom('customers')
      .select(['account_id', 'id', 'name', 'email'])
      .where('search_text', '=', '')
      .orderBy('account_id')
      .orderBy('id')
      .limit(BATCH)
      .execute();
    for (const { account_id, id, name, email } of rows) {
      await db
        .updateTable('customers')
        .set({ search_text: searchText(name, email ?? '') })
        .where('account_id', '=', account_id)
        .where('id', '=', id)
        .execute();
    }
    if (rows.length < BATCH) return;
  }
}
