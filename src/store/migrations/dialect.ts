/** Parts of statements that differ between the engines. */
export interface Dialect {
  /**
   * Stores the rows in the index of the primary key. SQLite would otherwise write each key twice: with the row, and in an index
   * beside the table. PostgreSQL has no such choice.
   */
  readonly clustered: string;
  readonly unlogged: string;
  /** The number by which the index of words refers to a row. A copy of the database has other numbers. */
  readonly rowNumber: string;
  /** A text column that holds JSON, of which `->` and `->>` take members. */
  json(column: string): string;
  /**
   * Statements that make an index of the words of a table by groups of three characters, for `words like`, and a view that uses it.
   * Without the extension pg_trgm PostgreSQL reads all words.
   */
  indexWords(table: string, view: string, columns: string): readonly string[];
}

/** The index keeps no text of its own: it reads the words from the table, whose triggers keep it up to date. */
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

/** There is no index where the extension is not installed, or the user may not add it. */
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
