import { coalesce } from '../coalesce.ts';
import type { Connection } from '../engine/driver.ts';
import { raw, type SqlValue, sql } from '../engine/sql.ts';

/** Microseconds since 1970, by the clock of the PostgreSQL server: the same for all replicas that share it. */
const now = raw('cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)');

/** A cast: PostgreSQL cannot infer the type of a parameter in arithmetic. */
const bigint = (value: SqlValue) => sql`cast(${value} as bigint)`;

/** In microseconds by the clock of the database. */
export interface Taken {
  readonly allowed: boolean;
  readonly emptyAt: number;
  readonly now: number;
}

/** A limit of requests: the time that a request uses up, and how far it may lie ahead of now, in microseconds. */
interface Limit {
  readonly name: string;
  readonly interval: number;
  readonly tolerance: number;
}

export type RateRepository = ReturnType<typeof rateRepository>;

/**
 * How much of each rate limit is used up, for replicas that share a database. Each method is a transaction of its own; the
 * table is unlogged, so no method waits for the disk. A copy of a database leaves the table out: its rows are void in a
 * minute.
 */
export const rateRepository = (db: Connection) => ({
  /** Counts a request if it is allowed; concurrent requests are counted together. */
  take: coalesce(
    ({ name, interval, tolerance }: Limit) => `${name} ${interval} ${tolerance}`,
    (limit, count) => takeMany(db, limit, count),
  ),

  /** Removes rows that no longer limit anything. */
  removeEmpty: () => db.run(sql`delete from rates where empty_at < ${now}`),
});

/** Counts several requests: together if all are allowed, else one after another until a request is refused. */
async function takeMany(db: Connection, limit: Limit, count: number): Promise<Taken[]> {
  const { interval, tolerance } = limit;
  if (count > 1 && interval * count <= tolerance) {
    const last = await take(db, { ...limit, interval: interval * count });
    const emptyAt = (at: number) => last.emptyAt - interval * (count - 1 - at);
    if (last.allowed) return Array.from({ length: count }, (_, at) => ({ ...last, emptyAt: emptyAt(at) }));
  }
  const taken: Taken[] = [];
  do taken.push(await take(db, limit));
  while (taken.length < count && taken.at(-1)?.allowed);
  return [...taken, ...Array(count - taken.length).fill(taken.at(-1))];
}

/** Uses up an interval, or nothing, in one statement; concurrent statements take turns. */
async function take(db: Connection, { name, interval, tolerance }: Limit): Promise<Taken> {
  type Found = { empty_at: unknown; now: unknown };
  const after = sql`greatest(rates.empty_at, ${now}) + ${bigint(interval)}`;
  const taken = await db.first<Found>(sql`
    insert into rates (name, empty_at) values (${name}, ${now} + ${bigint(interval)})
    on conflict (name) do update set empty_at = ${after} where ${after} - ${now} <= ${bigint(tolerance)}
    returning empty_at, ${now} as now`);
  const row = taken ?? (await db.first<Found>(sql`select empty_at, ${now} as now from rates where name = ${name}`));
  // The row was removed meanwhile: it can be added now.
  if (row === null) return take(db, { name, interval, tolerance });
  return { allowed: taken !== null, emptyAt: Number(row.empty_at), now: Number(row.now) };
}
