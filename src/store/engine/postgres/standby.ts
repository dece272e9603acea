import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import type { StandbyState } from '../standbys.ts';
import { isFromServer } from './connection.ts';
import { nameOf } from './explain.ts';
import { createPool, READ_CONNECTIONS, REQUEST_TIMEOUTS } from './pool.ts';
import { askStandby, type Position } from './positions.ts';

/** Shorter than those of the primary, which is asked after them. */
const TIMEOUTS = {
  ...REQUEST_TIMEOUTS,
  connectionTimeoutMillis: 1_000,
  statement_timeout: 2_000,
  query_timeout: 2_500,
};

/** How long a read waits until a standby has replayed what was acknowledged before it. */
const MAX_WAIT_MS = 50;

/** A server that reads may go to. */
export interface Standby {
  state(): StandbyState;
  /** Runs a query that only reads, on a state that has come at least to this position. Null when it cannot: ask the primary. */
  read(position: Position, query: QueryConfig): Promise<QueryResult | null>;
  /** Finds out whether reads may go to it. Each connection shows again, before its next read, where it is. */
  examine(position: Position): Promise<void>;
  close(): Promise<void>;
}

/** @param onChange called whenever reads may go to it from now on, or no more */
export function createStandby(url: string, onChange: (state: StandbyState) => void): Standby {
  const name = nameOf(url);
  const pool = createPool(url, TIMEOUTS, READ_CONNECTIONS);
  const seen = new WeakMap<PoolClient, Position & { readonly round: number }>();
  let round = 0;
  let problem: string | null = 'not asked yet';

  function decide(found: string | null): void {
    if (found === problem) return;
    problem = found;
    onChange({ name, problem });
  }

  /**
   * Resolves to true once the server of this connection has replayed up to this position. A statement of its own, since the read takes
   * its snapshot when it begins; on the connection of the read, since a server that starts again may have less.
   */
  async function hasReached(client: PoolClient, position: Position, goesOn: () => boolean): Promise<boolean> {
    const last = seen.get(client);
    if (last?.round === round && last.history === position.history && last.bytes >= position.bytes) return true;
    for (let pause = 1, waited = 0; ; waited += pause, pause *= 2) {
      const asked = round;
      const replayed = await askStandby(client);
      if (replayed === null) throw new Unusable('it is no standby');
      if (replayed.history !== position.history) throw new Unusable('it is no copy of the primary, or of an older one');
      seen.set(client, { ...replayed, round: asked });
      if (replayed.bytes >= position.bytes) return true;
      if (waited + pause > MAX_WAIT_MS || !goesOn()) return false;
      await sleep(pause);
    }
  }

  async function read(position: Position, query: QueryConfig): Promise<QueryResult | null> {
    return onConnection(pool, async (client) => {
      if (problem !== null) return null;
      if (await hasReached(client, position, () => problem === null)) return client.query(query);
      if (problem === null) decide(BEHIND);
      return null;
    }).catch((error: unknown) => {
      if (!isOfQuery(error)) decide(describe(error));
      return null;
    });
  }

  return {
    state: () => ({ name, problem }),
    read,
    async examine(position) {
      round += 1;
      const reached = onConnection(pool, (client) => hasReached(client, position, () => true));
      decide(
        await reached.then(
          (isThere) => (isThere ? null : BEHIND),
          (error: unknown) => describe(error),
        ),
      );
    },
    close: () => pool.end(),
  };
}

const BEHIND = `it is more than ${MAX_WAIT_MS} ms behind`;

/** Why a server cannot be read from, in words for an operator. */
class Unusable extends Error {}

/** Works on a connection of its own, which is closed after a failure: a response may still be on its way. */
async function onConnection<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Whether it is the query that failed, and not the server: replay may end a query that is in its way. */
function isOfQuery(error: unknown): boolean {
  return isFromServer(error) && !/^(08|28|3D|53|57P)/.test(error.code);
}

function describe(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  const reason = error instanceof AggregateError ? error.errors[0] : error;
  return `it failed: ${reason instanceof Error ? reason.message : String(reason)}`;
}
