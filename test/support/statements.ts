import pg from 'pg';

/** A statement that was sent to PostgreSQL, with the values beside its text. */
export interface SentStatement {
  readonly text: string;
  readonly name?: string;
  readonly values?: readonly unknown[];
}

/** Runs `work`, and returns what this process sends to PostgreSQL meanwhile: one statement after the other, each a round trip. */
export async function recordStatements(work: () => Promise<unknown>): Promise<SentStatement[]> {
  const sent: SentStatement[] = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, statement: unknown, ...others: unknown[]) {
    sent.push(typeof statement === 'string' ? { text: statement } : { ...(statement as SentStatement) });
    return Reflect.apply(query, this, [statement, ...others]);
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return sent;
}

/** A statement in a few words, without what stands in brackets: `insert licenses`. */
export function nameOf({ text }: SentStatement): string {
  const [, verb = '', table = ''] =
    /^\s*(\w+)(?:.*?\b(?:from|into)|(?<=update))?(?:\s+(\w+))?/is.exec(text.replaceAll(/\([^()]*\)/g, '')) ?? [];
  return `${verb.toLowerCase()} ${table}`.trim();
}
