/** What the engines call by names of their own. */
export interface Dialect {
  /**
   * Keeps the rows in the order of the primary key. Without it SQLite keeps them by a number of their own and the primary key
   * beside them, so that each is written twice. PostgreSQL knows one way only.
   */
  readonly clustered: string;
  readonly bytewise: string;
  readonly unlogged: string;
}

export const dialects = {
  SQLite: { clustered: 'without rowid', bytewise: 'text', unlogged: '' },
  PostgreSQL: { clustered: '', bytewise: 'text collate "C"', unlogged: 'unlogged' },
} satisfies Record<string, Dialect>;
