import { StartupError } from '../../startup-error.ts';
import { explain, nameOf } from './explain.ts';
import { createPool, openPool, REQUEST_TIMEOUTS } from './pool.ts';
import { askPrimary, askStandby } from './positions.ts';

/**
 * Looks at a standby as a server would before it reads from it.
 *
 * @throws StartupError when one of the two cannot be reached, or the second does not follow the first
 */
export async function inspectStandby(url: string, standbyUrl: string): Promise<{ readonly bytesBehind: number }> {
  const { pool: primary } = await openPool(url, REQUEST_TIMEOUTS);
  const standby = createPool(standbyUrl, REQUEST_TIMEOUTS, 1);
  try {
    const written = await askPrimary(primary);
    const replayed = await askStandby(standby).catch((error: unknown) => {
      throw explain(error, standbyUrl);
    });
    if (replayed === null) {
      throw new StartupError(`${nameOf(standbyUrl)} is no standby`, 'give the address of a server in recovery');
    }
    if (replayed.history !== written.history) {
      throw new StartupError(
        `${nameOf(standbyUrl)} does not follow ${nameOf(url)}`,
        'after a promotion it does from its next restart point on; else make it from a copy of the primary',
      );
    }
    return { bytesBehind: Math.max(0, Number(written.bytes - replayed.bytes)) };
  } finally {
    await Promise.all([primary.end(), standby.end()]);
  }
}
