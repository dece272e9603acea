import type { Kysely } from 'kysely';
import { searchText } from '../search.ts';

interface Before {
  customers: { account_id: string; id: string; name: string; email: string | null; search_text: string };
}

const BATCH = 500;

/** The search text of customers, so that a search gives the same result on both engines. */
export async function up(db: Kysely<Before>): Promise<void> {
  await db.schema
    .alterTable('customers')
    .addColumn('search_text', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  let last = { account_id: '', id: '' };
  for (;;) {
    const { account_id: account, id: after } = last;
    const rows = await db
      .selectFrom('customers')
      .select(['account_id', 'id', 'name', 'email'])
      .where(({ eb, and, or }) =>
        or([eb('account_id', '>', account), and([eb('account_id', '=', account), eb('id', '>', after)])]),
      )
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
    last = rows.at(-1) ?? last;
    if (rows.length < BATCH) return;
  }
}
