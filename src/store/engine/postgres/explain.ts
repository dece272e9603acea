import { StartupError } from '../../errors.ts';
import { codeOf, isFromServer } from './connection.ts';

/** Says in one line what keeps PostgreSQL from being used; the password is in none of them. */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof StartupError) return error;
  const cause = causeOf(error);
  const code = codeOf(cause);
  const options = { cause: error };
  if (code === INSUFFICIENT_PRIVILEGE) return lacksRights(cause, url);
  const known = typeof code === 'string' ? refusals.get(code) : undefined;
  if (known !== undefined) return new StartupError(`${nameOf(url)} ${known[0]}`, known[1], options);
  const explained = explainEncryption(cause, url);
  if (explained !== null) return explained;
  if (isUnreachable(cause)) {
    return new StartupError(`${nameOf(url)} does not answer`, 'check host and port, and that PostgreSQL runs', options);
  }
  return error;
}

/** What a server refuses, and what to do, by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html). */
const refusals: ReadonlyMap<string, readonly [problem: string, hint: string]> = new Map([
  ['28P01', ['refused the user or the password', 'check both in the address']],
  ['28000', ['refused the user or the password', 'check both in the address']],
  ['3D000', ['does not exist', 'make it with createdb']],
  ['53100', ['has no room left on its disk', 'free some space there']],
  ['53300', ['takes no more connections', 'close some, or raise max_connections: a server of lkm uses up to 17']],
  ['55P03', ['has a table that another session has locked', 'end what works on it, such as a long transaction']],
  ['57014', ['took too long', 'try again, when less is going on there']],
]);

/** The innermost cause: the error of PostgreSQL or of the system. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? causeOf(error.cause) : error;
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** The error for a user who lacks a right; PostgreSQL says on what. */
function lacksRights(cause: unknown, url: string): StartupError {
  const said = cause instanceof Error ? cause.message : '';
  return new StartupError(
    `the user may not do all of its work in ${nameOf(url)}: ${said}`,
    'use the user that made the tables, or grant SELECT, INSERT, UPDATE and DELETE on all of them, and CREATE on the schema',
    { cause },
  );
}

/** Says why a connection cannot be encrypted; null for any other error. */
function explainEncryption(error: unknown, url: string): StartupError | null {
  if (!(error instanceof Error)) return null;
  const options = { cause: error };
  if (NOT_VERIFIED.test(String(codeOf(error)))) {
    const [why] = error.message.split(';');
    return new StartupError(
      `${nameOf(url)} has a certificate that cannot be verified: ${why}`,
      'name the authority that has signed it with sslrootcert=FILE in the address; sslmode=no-verify trusts anybody',
      options,
    );
  }
  if (error.message.includes('does not support SSL')) {
    const hint = 'switch ssl on there, or leave sslmode out of the address';
    return new StartupError(`${nameOf(url)} does not encrypt connections`, hint, options);
  }
  if ('path' in error && typeof error.path === 'string') {
    const hint = 'check sslrootcert, sslcert and sslkey in the address';
    return new StartupError(`${error.path} cannot be read (${codeOf(error)})`, hint, options);
  }
  return null;
}

/** Codes of OpenSSL and of Node.js for a certificate that is not trusted. */
const NOT_VERIFIED =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_)/;

const UNREACHABLE: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  '57P01',
  '57P02',
  '57P03',
];

function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  if (UNREACHABLE.includes(codeOf(error))) return true;
  // Of the driver.
  return error instanceof Error && !isFromServer(error) && /timeout|terminated/i.test(error.message);
}

/** The database as it may be shown: without user and password. */
export function nameOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `the PostgreSQL database ${host || 'localhost'}${pathname}`;
  } catch {
    return 'the PostgreSQL database';
  }
}
