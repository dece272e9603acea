import type { Connection } from '../engine/driver.ts';
import { raw, type SqlValue, sql } from '../engine/sql.ts';

/** Microseconds since 1970, by the clock of the PostgreSQL server: the same for all replicas that share it. */
const now = raw('cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)');

/** A parameter of arithmetic has no type of its own. */
const bigint = (value: SqlValue) => sql`cast(${value} as bigint)`;

/** In microseconds by the clock of the database. */
export interface Taken {
  readonly allowed: boolean;
  readonly emptyAt: number;
  readonly now: number;
}

export type RateRepository = ReturnType<typeof rateRepository>;

/**
 * How much of each rate limit is used up, where several replicas have to agree. Each method is a transaction of its own;
 * the table is not logged, so that none waits for the disk. A copy of a database leaves it out: what it says is over in a
 * minute.
 */
export const rateRepository = (db: Connection) => ({
  /** Takes one request if it is allowed, in one statement: requests that come at once take turns. */
  async take({ name, interval, tolerance }: { name: string; interval: number; tolerance: number }): Promise<Taken> {
    type Found = { empty_at: unknown; now: unknown };
    const after = sql`greatest(rates.empty_at, ${now}) + ${bigint(interval)}`;
    const taken = await db.first<Found>(sql`
      insert into rates (name, empty_at) values (${name}, ${now} + ${bigint(interval)})
      on conflict (name) do update set empty_at = ${after} where ${after} - ${now} <= ${bigint(tolerance)}
      returning empty_at, ${now} as now`);
    const row = taken ?? (await db.first<Found>(sql`select empty_at, ${now} as now from rates where name = ${name}`));
    // Removed since: then it was empty.
    if (row === undefined) return { allowed: true, emptyAt: 0, now: 0 };
    return { allowed: taken !== undefined, emptyAt: Number(row.empty_at), now: Number(row.now) };
  },

  /** Forgets what is not used up any more. */
  removeEmpty: () => db.run(sql`delete from rates where empty_at < ${now}`),
});
