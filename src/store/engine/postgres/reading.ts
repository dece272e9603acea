import type { OpenForReading } from '../../inspect.ts';
import { connect, createPreparer } from './connection.ts';
import { explain } from './explain.ts';
import { openPool, REQUEST_TIMEOUTS } from './pool.ts';

/**
 * Opens a PostgreSQL database to look at it.
 *
 * @throws StartupError when the server cannot be reached, refuses the user or its work, or cannot be written to
 */
export async function openForReading(url: string): Promise<OpenForReading> {
  const { pool, kysely } = await openPool(url, REQUEST_TIMEOUTS);
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
