import { causeOf, StartupError } from '../../errors.ts';
import { codeOf, isFromServer } from './connection.ts';

/** Says in one line what keeps PostgreSQL from being used; the password is in none of them. */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof StartupError) return error;
  const explanation = explanationOf(causeOf(error));
  if (explanation === undefined) return error;
  const [problem, hint] = explanation;
  return new StartupError(`${nameOf(url)} ${problem}`, hint, { cause: error });
}

type Explanation = readonly [problem: string, hint: string];

/** What a server refuses, and what to do, by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html). */
const refusals: Readonly<Record<string, Explanation>> = {
  '28P01': ['refused the user or the password', 'check both in the address'],
  '28000': ['refused the user or the password', 'check both in the address'],
  '3D000': ['does not exist', 'make it with createdb'],
  '53100': ['has no room left on its disk', 'free some space there'],
  '53300': ['takes no more connections', 'close some, or raise max_connections: a server of lkm uses up to 17'],
  '55P03': ['has a table that another session has locked', 'end what works on it, such as a long transaction'],
  '57014': ['took too long', 'try again, when less is going on there'],
};

const INSUFFICIENT_PRIVILEGE = '42501';

/** Codes of OpenSSL and of Node.js for a certificate that is not trusted. */
const NOT_VERIFIED =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_)/;

function explanationOf(cause: Error): Explanation | undefined {
  const code = String(codeOf(cause));
  if (code === INSUFFICIENT_PRIVILEGE) {
    return [
      `does not let the user do all of its work: ${cause.message}`,
      'use the user that made the tables, or grant SELECT, INSERT, UPDATE and DELETE on all of them, and CREATE on the schema',
    ];
  }
  if (NOT_VERIFIED.test(code)) {
    return [
      `has a certificate that cannot be verified: ${cause.message.split(';')[0]}`,
      'name the authority that has signed it with sslrootcert=FILE in the address; sslmode=no-verify trusts anybody',
    ];
  }
  if (cause.message.includes('does not support SSL')) {
    return ['does not encrypt connections', 'switch ssl on there, or leave sslmode out of the address'];
  }
  if ('path' in cause) {
    return [
      `needs ${cause.path}, which cannot be read (${code})`,
      'check sslrootcert, sslcert and sslkey in the address',
    ];
  }
  if (refusals[code] !== undefined) return refusals[code];
  return isUnreachable(cause) ? ['does not answer', 'check host and port, and that PostgreSQL runs'] : undefined;
}

const UNREACHABLE = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|EPIPE|EHOSTUNREACH|57P01|57P02|57P03)$/;

function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  if (UNREACHABLE.test(String(codeOf(error)))) return true;
  // Of the driver.
  return error instanceof Error && !isFromServer(error) && /timeout|terminated/i.test(error.message);
}

/** The database as it may be shown: without user and password. */
export function nameOf(url: string): string {
  if (!URL.canParse(url)) return 'the PostgreSQL database';
  const { host, pathname } = new URL(url);
  return `the PostgreSQL database ${host || 'localhost'}${pathname}`;
}
