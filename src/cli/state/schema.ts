/** The version of the tables of `state.db`. */
export const STATE_VERSION = 1;

export const STATE_TABLES = `
CREATE TABLE change (
  id INTEGER PRIMARY KEY,
  writer TEXT NOT NULL,
  request TEXT NOT NULL,
  origin TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  body TEXT,
  idempotency_key TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX change_request ON change (request, id);

CREATE TABLE server (
  writer TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  db TEXT NOT NULL,
  ca TEXT,
  host TEXT NOT NULL,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  writer TEXT
) STRICT;

CREATE TABLE row (
  run INTEGER NOT NULL REFERENCES run,
  row INTEGER NOT NULL,
  line INTEGER,
  body TEXT,
  attempt INTEGER NOT NULL DEFAULT 1,
  sent_at TEXT,
  kind TEXT,
  status TEXT,
  result TEXT,
  error TEXT,
  PRIMARY KEY (run, row)
) STRICT, WITHOUT ROWID;

CREATE TABLE prepared (
  run INTEGER NOT NULL REFERENCES run,
  need TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (run, need)
) STRICT, WITHOUT ROWID;

CREATE TABLE output (
  run INTEGER NOT NULL REFERENCES run,
  path TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (run, path, digest)
) STRICT, WITHOUT ROWID;
`;
