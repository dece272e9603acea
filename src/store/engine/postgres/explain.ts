import { causeOf, StartupError } from '../../errors.ts';
import { codeOf } from './connection.ts';
import { nameOf } from './hosts.ts';

/**
 * Converts a known error of PostgreSQL to a StartupError, whose message never holds the password; returns other errors
 * unchanged.
 */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof StartupError) return error;
  const cause = causeOf(error);
  if (cause instanceof StartupError) return cause;
  const known = explanations.find(([pattern]) => pattern.test(`${codeOf(cause) ?? ''} ${cause.message}`));
  if (known === undefined) return error;
  const [, problem, hint] = known;
  const said = cause.message.split(';')[0] ?? '';
  return new StartupError(`${nameOf(url)} ${problem.replace('%', () => said)}`, hint, { cause: error });
}

const grant =
  'use the user that made the tables, or grant SELECT, INSERT, UPDATE and DELETE on all of them, and CREATE on the schema';
const trust =
  'name the authority that has signed it with sslrootcert=FILE in the address; sslmode=no-verify trusts anybody';

/** The problem of a server, database or user that takes no changes, and a hint. */
export const READ_ONLY = [
  'is read-only',
  'see default_transaction_read_only of the server, database and user',
] as const;

/**
 * The message (`%` stands for the words of the error) and the advice: by SQLSTATE (postgresql.org/docs/current,
 * errcodes-appendix.html), by a code of the system or of OpenSSL, or by the message of the driver, whose errors have no
 * code.
 */
const explanations: readonly (readonly [pattern: RegExp, problem: string, hint: string])[] = [
  [/^(28P01|28000) /, 'refused the user or the password', 'check both in the address'],
  [/^25006 /, ...READ_ONLY],
  [/^3D000 /, 'does not exist', 'make it with createdb'],
  [/^42501 /, 'does not let the user do all of its work: %', grant],
  [/^53100 /, 'has no room left on its disk', 'free some space there'],
  [
    /^53300 /,
    'takes no more connections',
    'close some, raise max_connections, or give servers of lkm less with --db-connections',
  ],
  [/^55P03 /, 'has a table that another session has locked', 'end what works on it, such as a long transaction'],
  [/^57014 /, 'took too long', 'try again, when less is going on there'],
  [
    /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_)/,
    'has a certificate that cannot be verified: %',
    trust,
  ],
  [/ SSL connections/, 'does not encrypt connections', 'switch ssl on there, or leave sslmode out of the address'],
  [/, open '/, 'needs a file that cannot be read: %', 'check sslrootcert, sslcert and sslkey in the address'],
  [
    /^(ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|57P0[123]) |^ .*(timeout|terminated)/i,
    'does not answer',
    'check host and port, and that PostgreSQL runs',
  ],
];
