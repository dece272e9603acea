import type { ClientBase, Pool } from 'pg';
import { attempt } from './connection.ts';

/** How far the log of a server has come. */
export interface Position {
  /** Bytes of the log: written down on a primary, replayed on a standby. */
  readonly bytes: bigint;
  /** The cluster and its timeline: bytes of different ones cannot be compared. */
  readonly history: string;
}

/**
 * Returns a function that asks a primary for its position; all who call it before a question is sent share that
 * question. Whatever was acknowledged before the call, by any server, lies before the position.
 *
 * @throws StorageError when the primary does not answer, or is none
 */
export function createPositions(primary: Pool): () => Promise<Position> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Position> | null = null;
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        const asked = askPrimary(primary);
        running = asked;
        return asked;
      });
    return next;
  };
}

/**
 * A commit is acknowledged once it is flushed, unless commits do not wait for that. The timeline is that of the log which
 * is written now: the control file still has the old one for a moment after a promotion.
 */
const PRIMARY = `
  select (case current_setting('synchronous_commit')
            when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end - '0/0'::pg_lsn)::text as bytes,
         system_identifier || '/' ||
         ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int as history
  from pg_control_system()`;

/** @throws StorageError when the primary does not answer, or is none */
export async function askPrimary(primary: Pool): Promise<Position> {
  const { rows } = await attempt(() =>
    primary.query<{ bytes: string; history: string }>({ name: 'lkm_position', text: PRIMARY }),
  );
  const [{ bytes, history } = { bytes: '0', history: '' }] = rows;
  return { bytes: BigInt(bytes), history };
}

/** The timeline is that of the last restart point: after a promotion a standby counts again from its next one on. */
const STANDBY = `
  select (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::text as bytes,
         system_identifier || '/' || timeline_id as history
  from pg_control_system(), pg_control_checkpoint()
  where pg_is_in_recovery()`;

/** How far a standby has replayed; null for a server that is no standby. */
export async function askStandby(client: ClientBase | Pool): Promise<Position | null> {
  const { rows } = await client.query<{ bytes: string | null; history: string }>({
    name: 'lkm_replayed',
    text: STANDBY,
  });
  const [row] = rows;
  return row === undefined ? null : { bytes: BigInt(row.bytes ?? 0), history: row.history };
}
