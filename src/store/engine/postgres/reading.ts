import type { OpenForReading } from '../../inspect.ts';
import { connect, createPreparer } from './connection.ts';
import { explain } from './explain.ts';
import { openPool, REQUEST_TIMEOUTS } from './pool.ts';
import { checkRights } from './rights.ts';

/**
 * Opens a PostgreSQL database to look at it.
 *
 * @throws StartupError when the server cannot be reached, refuses the user or its work, or cannot be written to
 */
export async function openForReading(url: string): Promise<OpenForReading> {
  const { pool, kysely } = await openPool(url, REQUEST_TIMEOUTS);
  try {
    await checkRights(pool, url);
  } catch (error) {
    await pool.end();
    throw explain(error, url);
  }
  return {
    engine: 'PostgreSQL',
    kysely,
    connection: connect(pool, createPreparer(kysely)),
    owner: null,
    warnings: [],
    explain: (error) => explain(error, url),
    close: () => pool.end(),
  };
}
