/** A process that made changes, for as long as it ran. */
export interface Run {
  readonly run: string;
  readonly host: string;
  readonly pid: number;
  /** See `Io.processStartTime`. */
  readonly startTime: string;
}

/** One change of a run: enough to make the same request again under the same key. */
export interface Row {
  /** The run that wrote it down, and its number there. */
  readonly run: string;
  readonly row: number;
  /** Base URL, absolute path of a database file, or address of a PostgreSQL database without its password. */
  readonly origin: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The exact text. */
  readonly body: string | null;
  readonly idempotencyKey: string;
  readonly createdAt: string;
}

/** A line of the journal: a run begins, writes a change down, takes over that of an earlier run, or is done with it. */
export type Line =
  | ({ readonly type: 'run' } & Run)
  | ({ readonly type: 'row' } & Row)
  | { readonly type: 'taken'; readonly run: string; readonly row: number; readonly by: string }
  | { readonly type: 'done'; readonly run: string; readonly row: number };

const VERSION = 1;

export const formatLine = (line: Line): string => JSON.stringify({ version: VERSION, ...line });

/** Null for a line that is broken; `foreign` for one that a newer lkm wrote, which is kept as it is. */
export function parseLine(text: string): Line | 'foreign' | null {
  try {
    const line: unknown = JSON.parse(text);
    if (!isObject(line) || typeof line.version !== 'number') return null;
    if (line.version > VERSION) return 'foreign';
    return isLine(line) ? line : null;
  } catch {
    return null;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function isLine(line: Fields): line is Fields & Line {
  if (typeof line.run !== 'string') return false;
  if (line.type === 'run') return isRun(line);
  if (typeof line.row !== 'number') return false;
  return line.type === 'row' ? isRow(line) : line.type === 'done' || (line.type === 'taken' && isText(line.by));
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isRun = ({ host, pid, startTime }: Fields): boolean =>
  isText(host) && Number.isSafeInteger(pid) && isText(startTime);

const isRow = ({ origin, method, path, body, idempotencyKey, createdAt }: Fields): boolean =>
  [origin, method, path].every(isText) &&
  (body === null || isText(body)) &&
  isText(idempotencyKey) &&
  /^[!-~]{1,255}$/.test(idempotencyKey) &&
  isText(createdAt) &&
  !Number.isNaN(Date.parse(createdAt));

/** Two requests with the same fingerprint are the same request. */
export const fingerprint = ({ origin, method, path, body }: RequestIdentity): string =>
  JSON.stringify([origin, method, path, body]);

export type RequestIdentity = Pick<Row, 'origin' | 'method' | 'path' | 'body'>;
