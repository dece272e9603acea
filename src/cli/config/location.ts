import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Hint, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { quote } from '../output/words.ts';

export const isPostgres = (text: string): boolean => /^postgres(ql)?:\/\//.test(text);

/** An absolute path or an address. Throws `UsageError` for an ambiguous address, and for one of another kind. */
export function locate(text: string, { cwd }: Pick<Io, 'cwd'>): string {
  const [, other] = otherAddress.exec(text) ?? [];
  if (other !== undefined && !isPostgres(text)) {
    // The rest may hold a password.
    throw new UsageError(`a database is a path or postgres://…, and '${other}' begins neither`, [
      ['A file:', '--db lkm.db'],
      ['PostgreSQL:', '--db postgres://USER@HOST/DATABASE'],
    ]);
  }
  if (!isPostgres(text)) return resolve(cwd, text);
  if (parseAddress(text) !== null) return text;
  throw new UsageError('the address of the database cannot be read', [
    'It has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
    'In a password / # ? @ and % are written %2F %23 %3F %40 and %25.',
  ]);
}

/** The start of an address that would name a new file: `mysql://`, `sqlite:lkm.db`, `"postgres://`. `C:\` is a drive. */
const otherAddress = /^(["']?[a-z][a-z\d+.-]+:(?=\/)|(?:file|jdbc|sqlite3?):|:memory:)/i;

/** Query parameters that may be shown; other parameters may contain a secret. */
const shownParameters = ['host', 'port', 'user', 'dbname', 'sslmode', 'sslrootcert', 'target_session_attrs'];

/** A location without passwords, for output and storage. */
export function withoutPassword(location: string): string {
  if (!isPostgres(location)) return location;
  const url = parseAddress(location);
  if (url === null) return 'postgres://…';
  const query = new URLSearchParams([...url.searchParams].filter(([name]) => shownParameters.includes(name)));
  const user = url.username === '' ? '' : `${url.username}@`;
  const host = emptyHost.test(location) ? '' : (severalHosts.exec(location)?.[0] ?? url.host);
  return `${url.protocol}//${user}${host}${url.pathname}${query.size === 0 ? '' : `?${query}`}`;
}

/** `URL` refuses an empty host, as for a socket: `postgres://lkm@/shop?host=/run/postgresql`. */
const emptyHost = /@\/(?=[^@]*$)/;

/** `URL` refuses several hosts: `postgres://lkm@one:5432,two:5433/shop`. */
const severalHosts = /(?<=^\w+:\/\/(?:[^/?#]*@)?)[^/?#@,]+(?:,[^/?#@,]+)+(?=[/?#]|$)/;

/** Parses an address; null if it is no URL, or if one of `/ # ? @` may belong to the password. */
function parseAddress(address: string): URL | null {
  const text = address.replace(emptyHost, '@socket/').replace(severalHosts, 'several');
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isAnonymous = url.username === '' && url.password === '';
  const isCertain = isAnonymous
    ? !text.includes('@')
    : url.hash === '' && text.slice(text.lastIndexOf('@') + 1).startsWith(url.host);
  return isCertain ? url : null;
}

export const hasPassword = (location: string): boolean => withoutPassword(location) !== location;

/** Removes the passwords of all addresses in a text. */
export const withoutPasswords = (text: string): string =>
  text
    .replaceAll(/postgres(?:ql)?:\/\/[^\s'"`]+/g, (address) =>
      /^[^@?]*$|:\*{3}@/.test(address) ? address : withoutPassword(address),
    )
    .replaceAll(/(https?:\/\/)[^\s'"`/]*@/g, '$1');

/** Throws `LocalError` for a missing file: opening it would create an empty database. */
export function checkExists(location: string, hints: readonly Hint[] = []): void {
  if (isPostgres(location) || existsSync(location)) return;
  throw new LocalError(`${location} does not exist`, ['Check the path of the database.', ...hints]);
}

export const waysWithoutServer = (db: string): readonly Hint[] => [
  'Nothing was sent.',
  ['Start it:', `lkm serve --db ${quote(db)}`],
  ['Without it:', `--db ${quote(db)}`],
];
