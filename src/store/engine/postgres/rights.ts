import type { Pool } from 'pg';
import { StartupError } from '../../startup-error.ts';
import { nameOf } from './explain.ts';

/** Rights come for all tables together, so that one of them shows what the user may do. */
const LACKING = `
  select privilege
  from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) privilege
  where not has_table_privilege(to_regclass('licenses'), privilege)
`;

/**
 * Makes sure that the user may work with the tables, where they are there. Without it each change would fail, and be
 * repeated like one that may succeed later.
 *
 * @throws StartupError that names what the user may not do
 */
export async function checkRights(pool: Pool, url: string): Promise<void> {
  const { rows } = await pool.query<{ privilege: string }>(LACKING);
  if (rows.length === 0) return;
  const lacking = rows.map(({ privilege }) => privilege).join(', ');
  throw new StartupError(
    `the user may not ${lacking} in the tables of ${nameOf(url)}`,
    'use the user that made them, or grant SELECT, INSERT, UPDATE and DELETE on all of them',
  );
}
