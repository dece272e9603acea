import { sql } from 'kysely';
import type { Connection } from '../engine/driver.ts';
import { statement } from '../engine/statement.ts';
import { integer, text } from '../table.ts';

/** A copy of a database leaves them out: what they say is over in a minute. */
export const rateColumns = {
  /** What is limited: a policy, with a token or an address. */
  name: text()('name'),
  /** Microseconds since 1970, by the clock of the database: the same for all replicas. */
  emptyAt: integer()('empty_at'),
};

/** The clock of a PostgreSQL server: this table is written where several replicas share one. */
const now = sql<number>`cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)`;

interface Taking {
  readonly name: string;
  readonly interval: number;
  readonly tolerance: number;
}

const take = statement<Taking>()((db, $) => {
  // The parameters of arithmetic have no type of their own.
  const interval = sql<number>`cast(${$.interval} as bigint)`;
  const after = sql<number>`greatest(rates.empty_at, ${now}) + ${interval}`;
  return db
    .insertInto('rates')
    .values({ name: $.name, empty_at: sql<number>`${now} + ${interval}` })
    .onConflict((on) =>
      on
        .column('name')
        .doUpdateSet({ empty_at: after })
        .where(sql<boolean>`${after} - ${now} <= cast(${$.tolerance} as bigint)`),
    )
    .returning(['empty_at', now.as('now')]);
});

const find = statement<{ name: string }>()((db, $) =>
  db
    .selectFrom('rates')
    .select(['empty_at', now.as('now')])
    .where('name', '=', $.name),
);

const removeEmpty = statement<object>()((db) => db.deleteFrom('rates').where('empty_at', '<', now));

/** What a request found, in microseconds by the clock of the database. */
export interface Taken {
  readonly allowed: boolean;
  readonly emptyAt: number;
  readonly now: number;
}

/** See {@link rateRepository}. */
export type RateRepository = ReturnType<typeof rateRepository>;

/**
 * How much of each rate limit is used up, where several replicas have to agree. Each method is a transaction of its own;
 * the table is not logged, so that none waits for the disk.
 */
export const rateRepository = (db: Connection) => ({
  /** Takes one request if it is allowed, in one statement: requests that come at once take turns. */
  async take(taking: Taking): Promise<Taken> {
    const taken = await db.first(take, taking);
    const row = taken ?? (await db.first(find, { name: taking.name }));
    // Removed since: then it was empty.
    if (row === undefined) return { allowed: true, emptyAt: 0, now: 0 };
    return { allowed: taken !== undefined, emptyAt: Number(row.empty_at), now: Number(row.now) };
  },

  /** Forgets what is not used up any more. */
  async removeEmpty(): Promise<void> {
    await db.run(removeEmpty, {});
  },
});
