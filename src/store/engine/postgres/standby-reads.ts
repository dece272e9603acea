import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryResult } from 'pg';
import type { Connection } from '../driver.ts';
import type { StandbyState, Standbys } from '../standbys.ts';
import type { Statement } from '../statement.ts';
import type { createPreparer } from './connection.ts';
import { createPool, REQUEST_TIMEOUTS } from './pool.ts';
import { createPositions } from './positions.ts';
import { createStandby } from './standby.ts';

/** How often each standby is examined. */
const EXAMINE_EVERY_MS = 250;

/** Reads of a database that has standbys. */
export interface StandbyReads {
  readonly reader: Connection;
  readonly standbys: Standbys;
  close(): Promise<void>;
}

/** A primary, and the standbys that reads may go to. */
export interface StandbyOptions {
  readonly url: string;
  readonly standbys: readonly string[];
  readonly prepare: ReturnType<typeof createPreparer>;
}

/**
 * Sends reads to standbys, in turn. Each read asks the primary first how far its log has come, together with others, and
 * runs where at least that position was replayed; else on the primary. When the primary does not answer, reads fail.
 *
 * @param primary runs everything that is no read, and reads that no standby takes
 */
export async function openStandbyReads(
  primary: Connection,
  { url, standbys: urls, prepare }: StandbyOptions,
): Promise<StandbyReads> {
  const asking = createPool(url, REQUEST_TIMEOUTS, 1);
  const position = createPositions(asking);
  const reads = { standby: 0, primary: 0 };
  const listeners: ((state: StandbyState) => void)[] = [];
  const changed = (state: StandbyState) => {
    for (const listener of listeners) listener(state);
  };
  const standbys = urls.map((one) => createStandby(one, changed));
  const examine = async (): Promise<void> => {
    const reached = await position();
    await Promise.all(standbys.map((standby) => standby.examine(reached)));
  };
  const closing = new AbortController();
  const close = () => Promise.all([asking.end(), ...standbys.map((standby) => standby.close())]);
  await examine().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const examining = repeat(examine, closing.signal);

  let turn = 0;
  async function read(statement: Statement<never, unknown>, parameters: unknown): Promise<QueryResult | null> {
    const { name, text, bind } = prepare(statement);
    if (!isRead(text)) return null;
    const usable = standbys.filter((standby) => standby.state().problem === null);
    const standby = usable[turn++ % usable.length];
    const values = bind(parameters as Readonly<Record<string, unknown>>);
    const result = standby === undefined ? null : await standby.read(await position(), { name, text, values });
    reads[result === null ? 'primary' : 'standby'] += 1;
    return result;
  }

  return {
    reader: {
      ...primary,
      async all<P, R>(statement: Statement<P, R>, parameters: P) {
        const result = await read(statement, parameters);
        return result === null ? primary.all(statement, parameters) : (result.rows as R[]);
      },
      async first<P, R>(statement: Statement<P, R>, parameters: P) {
        const result = await read(statement, parameters);
        return result === null ? primary.first(statement, parameters) : (result.rows[0] as R | undefined);
      },
    },
    standbys: {
      reads,
      list: () => standbys.map((standby) => standby.state()),
      onChange: (listener) => void listeners.push(listener),
    },
    async close() {
      closing.abort();
      await examining;
      await close();
    },
  };
}

/** Repeats it until the signal; a primary that does not answer says nothing about its standbys. */
async function repeat(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(EXAMINE_EVERY_MS, undefined, { ref: false, signal }).catch(() => {});
    if (!signal.aborted) await work().catch(() => {});
  }
}

/** A statement that changes or locks nothing; a doubtful one is none. */
const isRead = (text: string): boolean =>
  /^\s*(select|with)\b/i.test(text) &&
  !/\b(insert|update|delete|merge|for (no key update|key share|share))\b/i.test(text);
