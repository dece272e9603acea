import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import pg, { type ClientBase, type Pool, type PoolClient, type QueryResult } from 'pg';
import { ConstraintError, OutcomeUnknown, ReadTooBroad, StorageError } from '../../errors.ts';
import type { Tables } from '../../schema.ts';
import { type Connection, commits } from '../driver.ts';
import type { CompiledStatement, Statement } from '../statement.ts';

/** A statement; with a name, PostgreSQL parses it once per connection. */
interface Prepared {
  readonly name: string | undefined;
  readonly text: string;
  readonly bind: CompiledStatement['bind'];
}

/** A connection keeps what it has parsed until it ends: lists with rare filters must not fill its memory. */
const MAX_NAMES = 1_000;

/** Compiles each statement once, and gives the first of them the names they are prepared under. */
export function createPreparer(compiler: Kysely<Tables>): (statement: Statement<never, unknown>) => Prepared {
  // Weak, since lists forget statements that are not used any more.
  const prepared = new WeakMap<Statement<never, unknown>, Prepared>();
  let names = 0;
  return (statement) => {
    const known = prepared.get(statement);
    if (known !== undefined) return known;
    const { sql, bind } = statement.compile(compiler);
    const fresh = { name: names < MAX_NAMES ? `lkm_${names}` : undefined, text: sql, bind };
    names += 1;
    prepared.set(statement, fresh);
    return fresh;
  };
}

/** Runs statements on one client, inside its transaction, or on whatever client of the pool is free. */
export function connect(client: ClientBase | Pool, prepare: ReturnType<typeof createPreparer>): Connection {
  async function execute(statement: Statement<never, unknown>, parameters: unknown): Promise<QueryResult> {
    const { name, text, bind } = prepare(statement);
    const values = bind(parameters as Readonly<Record<string, unknown>>);
    return attempt(() => client.query({ ...(name !== undefined && { name }), text, values }));
  }

  return {
    async all<P, R>(statement: Statement<P, R>, parameters: P) {
      return (await execute(statement, parameters)).rows as R[];
    },
    async first<P, R>(statement: Statement<P, R>, parameters: P) {
      return (await execute(statement, parameters)).rows[0] as R | undefined;
    },
    async run<P, R>(statement: Statement<P, R>, parameters: P) {
      return (await execute(statement, parameters)).rowCount ?? 0;
    },
    async nested(work) {
      await attempt(() => client.query('SAVEPOINT nested'));
      try {
        const value = await work();
        await attempt(() => client.query('RELEASE nested'));
        return value;
      } catch (error) {
        // After a lost connection there is nothing to go back to; the error itself says so.
        await client.query('ROLLBACK TO nested').catch(() => {});
        throw error;
      }
    },
    async tryLock(name) {
      const { rows } = await attempt(() =>
        client.query({
          name: 'lkm_lock',
          text: 'select pg_try_advisory_xact_lock($1) as taken',
          values: [toLockId(name)],
        }),
      );
      return rows[0]?.taken === true;
    },
  };
}

/** SQLSTATE class 23, integrity constraint violation. */
const CONSTRAINT = /^23/;

/** SQLSTATE of a statement that took longer than `statement_timeout`. */
const QUERY_CANCELED = '57014';

/** Runs one query; what the database or the way to it throws becomes a StorageError, or a ConstraintError. */
export async function attempt<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof Error && CONSTRAINT.test(String(codeOf(error)))) throw new ConstraintError(error);
    if (isFromServer(error) && error.code === QUERY_CANCELED) throw new ReadTooBroad(error);
    throw new StorageError(error);
  }
}

/** The SQLSTATE of an error of PostgreSQL (`40001`), or the code of one of the system (`ECONNREFUSED`). */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Whether PostgreSQL itself has refused something, and the code is one of SQLSTATE: `EPIPE` has five letters, too. */
export const isFromServer = (error: unknown): error is pg.DatabaseError & { readonly code: string } =>
  error instanceof pg.DatabaseError && error.code !== undefined;

/** Advisory locks are named by 64 bits. Two names with the same bits would exclude each other, which does no harm. */
function toLockId(name: string): string {
  return hash('sha256', name, 'buffer').readBigInt64BE().toString();
}

/** How often a transaction is attempted that conflicts with others. */
const MAX_ATTEMPTS = 5;

const RETRY_AFTER_MS = 10;

/** `serialization_failure` and `deadlock_detected`: PostgreSQL asks for the transaction to be run again. */
const RUN_AGAIN: readonly unknown[] = ['40001', '40P01'];

/** Runs a transaction on a pool, and again when it conflicts with others. */
export async function transact<T>(
  pool: Pool,
  prepare: ReturnType<typeof createPreparer>,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await runOnce(pool, prepare, work);
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      if (round === MAX_ATTEMPTS || !RUN_AGAIN.includes(codeOf(cause))) throw error;
      await sleep(RETRY_AFTER_MS * round);
    }
  }
}

async function runOnce<T>(
  pool: Pool,
  prepare: ReturnType<typeof createPreparer>,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const client = await attempt(() => pool.connect());
  let usable = false;
  try {
    await attempt(() => client.query('BEGIN'));
    const value = await work(connect(client, prepare));
    await commit(client);
    usable = true;
    return value;
  } catch (error) {
    // After a commit without an answer there is nothing to take back, and nobody may be listening.
    if (!(error instanceof OutcomeUnknown)) {
      usable = await client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
    }
    throw error;
  } finally {
    client.release(!usable);
  }
}

/** Commits and checks the command tag: PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK. */
async function commit(client: PoolClient): Promise<void> {
  const committing = commits.tracePromise(() => client.query('COMMIT'), { size: 1, isSynchronous: false });
  const { command } = await committing.catch((error: unknown) => {
    throw isRefusal(error) ? new StorageError(error) : new OutcomeUnknown(error);
  });
  if (command !== 'COMMIT') throw new StorageError(new Error(`the commit was answered with ${command}`));
}

/** Whether PostgreSQL itself says no. A lost connection says nothing, nor does a server that is shutting down. */
function isRefusal(error: unknown): boolean {
  return isFromServer(error) && !/^(08|57P)/.test(error.code);
}
