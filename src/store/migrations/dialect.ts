/** Parts of statements that differ between the engines. */
export interface Dialect {
  /**
   * Keeps the rows in the order of the primary key. Without it SQLite keeps them by a number of their own and the primary key
   * beside them, so that each is written twice. PostgreSQL knows one way only.
   */
  readonly clustered: string;
  readonly unlogged: string;
  /** The number of a row in a table of words, which nothing outside of the database knows. */
  readonly rowNumber: string;
  /** A text column that holds JSON, of which `->` and `->>` take members. */
  json(column: string): string;
  /**
   * Statements that make a view of the columns of a table of words, in which an index of each three characters answers
   * `words like`. Without the extension pg_trgm PostgreSQL looks at all words.
   */
  indexWords(table: string, view: string, columns: string): readonly string[];
}

/** An index beside the table, which keeps no text: it takes the row from the table, and the table writes it by triggers. */
const indexWordsOnSqlite: Dialect['indexWords'] = (table, view, columns) => [
  `create virtual table ${table}_index using fts5
    (words, content = '${table}', content_rowid = 'row_id', tokenize = 'trigram', detail = none, columnsize = 0)`,
  `create trigger ${table}_added after insert on ${table} begin
    insert into ${table}_index (rowid, words) values (new.row_id, new.words);
  end`,
  `create trigger ${table}_removed after delete on ${table} begin
    insert into ${table}_index (${table}_index, rowid, words) values ('delete', old.row_id, old.words);
  end`,
  `create trigger ${table}_changed after update on ${table} begin
    insert into ${table}_index (${table}_index, rowid, words) values ('delete', old.row_id, old.words);
    insert into ${table}_index (rowid, words) values (new.row_id, new.words);
  end`,
  `create view ${view} as
    select i.words, ${columns} from ${table}_index as i cross join ${table} as t on t.row_id = i.rowid`,
];

/** Whoever may not add the extension, or does not have it installed, has no index. */
const indexWordsOnPostgres: Dialect['indexWords'] = (table, view, columns) => [
  `do $$ begin
    create extension if not exists pg_trgm;
    create index ${table}_index on ${table} using gin (words gin_trgm_ops);
  exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then null;
  end $$`,
  `create view ${view} as select words, ${columns} from ${table}`,
];

export const dialects = {
  SQLite: {
    ...{ clustered: 'without rowid', unlogged: '', rowNumber: 'row_id integer primary key,' },
    json: (column) => column,
    indexWords: indexWordsOnSqlite,
  },
  PostgreSQL: {
    ...{ clustered: '', unlogged: 'unlogged', rowNumber: '' },
    json: (column) => `${column}::json`,
    indexWords: indexWordsOnPostgres,
  },
} satisfies Record<string, Dialect>;
