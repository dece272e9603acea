import { SHARE } from '../../alone.ts';
import { createPool } from './pool.ts';

const LOOK_EVERY_MS = 1_000;

/**
 * Keeps everybody from migrating a database while this process works on it, on a connection of its own that is renewed
 * when it is lost. Waits while somebody migrates it now.
 *
 * @returns what ends it
 */
export async function showPresence(url: string): Promise<() => Promise<void>> {
  const pool = createPool(url, { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: 0 }, SHARE);
  const connect = async () => (await pool.connect()).release();
  await connect();
  const renew = () => void (pool.totalCount === 0 && connect().catch(() => {}));
  const timer = setInterval(renew, LOOK_EVERY_MS).unref();
  return async () => {
    clearInterval(timer);
    await pool.end();
  };
}
