import type { Pool } from 'pg';
import { StartupError } from '../../startup-error.ts';

/** Makes sure that the server can be written to. */
export async function checkServer(pool: Pool, url: string): Promise<void> {
  const { rows } = await pool.query("select current_setting('transaction_read_only') as read_only");
  if (rows[0]?.read_only === 'on') {
    throw new StartupError(
      `${nameOf(url)} is read-only: a standby, or set so`,
      'give the address of the primary server',
    );
  }
}

/** Says in one line what keeps PostgreSQL from being used; the password is in none of them. */
export function explain(error: unknown, url: string): unknown {
  if (error instanceof StartupError) return error;
  const { code } = error as { code?: unknown };
  const options = { cause: error };
  if (code === '28P01' || code === '28000') {
    return new StartupError(`${nameOf(url)} refused the user or the password`, 'check both in the address', options);
  }
  if (code === '3D000') return new StartupError(`${nameOf(url)} does not exist`, 'make it with createdb', options);
  if (code === '42501') {
    return new StartupError(`the user may not make tables in ${nameOf(url)}`, 'grant CREATE on its schema', options);
  }
  if (isUnreachable(error)) {
    return new StartupError(`${nameOf(url)} does not answer`, 'check host and port, and that PostgreSQL runs', options);
  }
  return error;
}

const UNREACHABLE: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ECONNRESET',
  'EHOSTUNREACH',
  '57P03',
];

function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  const { code, message } = error as { code?: unknown; message?: unknown };
  return UNREACHABLE.includes(code) || /timeout|terminated/i.test(String(message));
}

/** The database as it may be shown: without user and password. */
function nameOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `the PostgreSQL database ${host || 'localhost'}${pathname}`;
  } catch {
    return 'the PostgreSQL database';
  }
}
