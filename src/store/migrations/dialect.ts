/** What the engines call by names of their own. */
export interface Dialect {
  /**
   * Keeps the rows in the order of the primary key. Without it SQLite keeps them by a number of their own and the primary key
   * beside them, so that each is written twice. PostgreSQL knows one way only.
   */
  readonly clustered: string;
  readonly bytewise: string;
  readonly unlogged: string;
  /** Indexes of this engine alone. */
  readonly indexes: readonly string[];
}

export const dialects = {
  SQLite: {
    clustered: 'without rowid',
    bytewise: 'text',
    unlogged: '',
    // A list by an end reads only those days of a month that lie within its bounds. Decision 0052.
    indexes: [
      `create index licenses_by_end_day on licenses
        (account_id, substr(expires_at, 1, 10), id, expires_at, vendor_disabled, product_id) where expires_at is not null`,
    ],
  },
  PostgreSQL: { clustered: '', bytewise: 'text collate "C"', unlogged: 'unlogged', indexes: [] },
} satisfies Record<string, Dialect>;
