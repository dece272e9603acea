import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Hint, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';

/** Whether the text is the address of a PostgreSQL database, and not the path of a file. */
export const isPostgres = (text: string): boolean => /^postgres(ql)?:\/\//.test(text);

/**
 * The database that a person named: an address as it is, the path of a file made absolute.
 * Throws `UsageError` for an address that cannot be taken apart for certain.
 */
export function locate(text: string, { cwd }: Pick<Io, 'cwd'>): string {
  if (!isPostgres(text)) return resolve(cwd, text);
  if (takeApart(text) !== null) return text;
  throw new UsageError('the address of the database cannot be read', [
    'It has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
    'In a password / # ? @ and % are written %2F %23 %3F %40 and %25.',
  ]);
}

/** Parts of an address that may be shown; others can hold a secret. */
const harmless = ['host', 'port', 'user', 'dbname', 'sslmode', 'sslrootcert', 'application_name', 'connect_timeout'];

/** A location as it may be shown and kept. */
export function withoutPassword(location: string): string {
  if (!isPostgres(location)) return location;
  const url = takeApart(location);
  if (url === null) return 'postgres://…';
  const query = new URLSearchParams([...url.searchParams].filter(([name]) => harmless.includes(name)));
  const user = url.username === '' ? '' : `${url.username}@`;
  const host = withoutHost.test(location) ? '' : url.host;
  return `${url.protocol}//${user}${host}${url.pathname}${query.size === 0 ? '' : `?${query}`}`;
}

/** A user and no host, as for a socket: `postgres://lkm@/shop?host=/run/postgresql`. A URL must have one. */
const withoutHost = /@\/(?=[^@]*$)/;

/** Null when a part of the password may stand where host or path do: it then holds one of `/ # ? @`. */
function takeApart(address: string): URL | null {
  const text = address.replace(withoutHost, '@socket/');
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isAnonymous = url.username === '' && url.password === '';
  const isCertain = isAnonymous
    ? !text.includes('@')
    : url.hash === '' && text.slice(text.lastIndexOf('@') + 1).startsWith(url.host);
  return isCertain ? url : null;
}

/** Whether something must be left out before the location is shown. */
export const hasPassword = (location: string): boolean => withoutPassword(location) !== location;

/** The same for a text in which addresses occur, such as the message of an error. */
export const withoutPasswords = (text: string): string =>
  text.replaceAll(/postgres(?:ql)?:\/\/[^\s'"`]+/g, (address) =>
    /^[^@?]*$|:\*{3}@/.test(address) ? address : withoutPassword(address),
  );

/** Refuses a file that is not there: opening it would make a new, empty database. */
export function checkExists(location: string, hints: readonly Hint[] = []): void {
  if (isPostgres(location) || existsSync(location)) return;
  throw new LocalError(`${location} does not exist`, ['Check the path of the database.', ...hints]);
}
