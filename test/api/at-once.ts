import { vi } from 'vitest';
import { connect, query } from '../support/postgres.ts';
import type { Answer, World } from '../support/world.ts';

/** Makes so many at once. */
export const times = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

/** How many answers there are of each status and code. */
export function tally(answers: readonly Pick<Answer, 'status' | 'body'>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = `${status}/${body.code ?? 0}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

interface BesideOptions {
  readonly waiting?: number;
  readonly end?: 'commit' | 'rollback';
  /** Runs while they wait. */
  readonly meanwhile?: () => Promise<void>;
}

/**
 * Sends requests while a transaction of another server on the same PostgreSQL has run `sql`, and ends that transaction
 * once so many of them wait for it.
 */
export async function beside<T>(
  { location }: Pick<World, 'location'>,
  sql: readonly string[],
  send: () => readonly Promise<T>[],
  { waiting = 1, end = 'commit', meanwhile = async () => {} }: BesideOptions = {},
): Promise<T[]> {
  const other = await connect(location);
  try {
    await other.query('begin');
    for (const text of sql) await other.query(text);
    const sent = Promise.all(send());
    const locked = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    // On a connection of its own: within a transaction the answer stays what it was first.
    const areWaiting = async () => (await query(location, locked)).length >= waiting;
    await vi.waitUntil(areWaiting, { timeout: 10_000, interval: 10 });
    await meanwhile();
    await other.query(end);
    return await sent;
  } finally {
    await other.end();
  }
}
