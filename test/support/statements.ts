import pg from 'pg';

/** A statement that was sent to PostgreSQL, with the values beside its text. */
export interface SentStatement {
  readonly text: string;
  readonly name?: string;
  readonly values?: readonly unknown[];
  /** Whether it was sent before the one in front of it was answered: both are one round trip. */
  readonly isWithPrevious: boolean;
}

/** Runs `work`, and returns what this process sends to PostgreSQL meanwhile, in order. */
export async function recordStatements(work: () => Promise<unknown>): Promise<SentStatement[]> {
  const sent: SentStatement[] = [];
  const underWay = new WeakMap<pg.Client, number>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, statement: unknown, ...others: unknown[]) {
    const before = underWay.get(this) ?? 0;
    const asObject = typeof statement === 'string' ? { text: statement } : (statement as SentStatement);
    sent.push({ ...asObject, isWithPrevious: this.pipeline && before > 0 });
    const answer: unknown = Reflect.apply(query, this, [statement, ...others]);
    if (answer instanceof Promise) {
      underWay.set(this, before + 1);
      const note = () => underWay.set(this, (underWay.get(this) ?? 0) - 1);
      answer.then(note, note);
    }
    return answer;
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return sent;
}

/** A statement in a few words, without what stands in brackets: `insert licenses`. */
export function nameOf({ text }: Pick<SentStatement, 'text'>): string {
  const [, verb = '', table = ''] =
    /^\s*(\w+)(?:.*?\b(?:from|into)|(?<=update))?(?:\s+(\w+))?/is.exec(text.replaceAll(/\([^()]*\)/g, '')) ?? [];
  return `${verb.toLowerCase()} ${table}`.trim();
}
