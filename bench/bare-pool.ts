import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { mintKey } from '../src/domain/license-key.ts';
import type { SentStatement } from '../test/support/statements.ts';

/** A pool that sends the statements of one request, with nothing around them. */
export function openBarePool(url: string, max: number, statements: readonly SentStatement[]) {
  const pool = new pg.Pool({ connectionString: url, max });
  return { sendOnce: () => sendOnce(pool, statements), end: () => pool.end() };
}

async function sendOnce(pool: pg.Pool, statements: readonly SentStatement[]): Promise<void> {
  const fresh = new Map<unknown, string>();
  const client = await pool.connect();
  try {
    for (const { text, name, values = [] } of statements) {
      const renewed = values.map((value) => {
        const made = fresh.get(value) ?? renew(value);
        if (made === null) return value;
        fresh.set(value, made);
        return made;
      });
      await client.query({ text, ...(name !== undefined && { name }), values: renewed });
    }
  } finally {
    client.release();
  }
}

/** Another value for what only one row may have: the id of what is written, and a licence key. */
function renew(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const [, prefix] = /^(lic|aud)_[0-9a-z]{26}$/.exec(value) ?? [];
  if (prefix !== undefined) return `${prefix}_${randomBytes(13).toString('hex')}`;
  return /^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/.test(value) ? mintKey(randomBytes(15)) : null;
}
