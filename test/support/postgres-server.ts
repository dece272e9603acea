import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';

/** A PostgreSQL server for tests. */
export interface PostgresServer {
  /** The database `postgres`, as a superuser. */
  readonly url: string;
  /** Stops it in order and starts it again; null where it is not ours to stop. */
  readonly restart: (() => Promise<void>) | null;
  stop(): Promise<void>;
}

/** Settings of postgresql.conf. */
export type Settings = Readonly<Record<string, string | number>>;

/** Why there is no PostgreSQL server, in one line that says how to name another. */
export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable';

  constructor(reason: string) {
    super(
      `${reason.trim().replace(/\s*\n\s*/g, ' ')}; ` +
        'to use a PostgreSQL server of your own, set LKM_TEST_POSTGRES=postgres://user:password@host/postgres',
    );
  }
}

/** A PostgreSQL server with a standby, named `s1`, which copies it, and which it need not wait for. */
export interface PostgresPair {
  /** The primary, as a superuser. */
  readonly url: string;
  /** Both hosts, in an order that stays. */
  readonly both: string;
  readonly restart: () => Promise<void>;
  /** Stops the primary at once, as a fault of the system would, and starts it again. */
  readonly restartAtOnce: () => Promise<void>;
  readonly stopStandby: () => Promise<void>;
  readonly startStandby: () => Promise<void>;
  /** Kills the primary and promotes the standby: it is the primary then, and has none. */
  readonly failOver: () => Promise<void>;
  /** Runs pg_ctl; the data of the primary is in /var/lib/postgresql/db1, as it sees it, that of the standby in …/db2. */
  readonly pgCtl: (words: string) => Promise<void>;
  /** Makes a new standby of what the primary holds. */
  readonly renewStandby: () => Promise<void>;
  stop(): Promise<void>;
}

/** Starts a pair from the programs that npm brought. Throws {@link PostgresUnavailable}. */
export async function startPair(settings: Settings): Promise<PostgresPair> {
  const { command, stop } = await startPostgres(settings);
  const doing = (name: string) => async () => {
    Object.assign(pair, await command(name));
  };
  const pair = {
    ...{ url: '', both: '', stop },
    restart: doing('restart'),
    restartAtOnce: doing('immediate'),
    stopStandby: doing('standby-away'),
    startStandby: doing('standby-back'),
    failOver: doing('fail-over'),
    pgCtl: (words: string) => doing(`pg_ctl ${words}`)(),
    renewStandby: doing('standby'),
  };
  await pair.renewStandby();
  return pair;
}

/** The server that `LKM_TEST_POSTGRES` names, else one that is started. Throws {@link PostgresUnavailable}. */
export async function openPostgres(settings: Settings): Promise<PostgresServer> {
  const given = process.env.LKM_TEST_POSTGRES;
  if (given === undefined || given === '') return startPostgres(settings);
  try {
    const client = new pg.Client({ connectionString: given });
    await client.connect();
    await client.end();
  } catch (error) {
    const reason = error instanceof AggregateError ? error.errors[0] : error;
    throw new PostgresUnavailable(`the server of LKM_TEST_POSTGRES cannot be used: ${messageOf(reason)}`);
  }
  return { url: given, restart: null, stop: async () => {} };
}

/** Ends this process with the reason on stderr, where there is no server. */
export function endUnavailable(error: unknown): never {
  if (!(error instanceof PostgresUnavailable)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

/**
 * Starts a server from the programs that npm brought, in a temporary folder. The server ends, and the folder with it,
 * when this process does, however it ends. Throws {@link PostgresUnavailable}.
 */
export async function startPostgres(settings: Settings) {
  const guard = spawn(
    process.execPath,
    [join(import.meta.dirname, 'postgres-guard.ts'), JSON.stringify(Object.entries(settings))],
    // In a session of its own, so that Ctrl-C reaches this process alone and the guard can clean up after it.
    { detached: true, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const pipes = [guard, guard.stdin, guard.stdout] as unknown as readonly { ref(): void; unref(): void }[];
  const exited = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
  const replies = createInterface(guard.stdout)[Symbol.asyncIterator]();
  guard.stdin.on('error', () => {}); // the guard may be gone

  // Between commands the guard does not keep this process alive.
  const reply = async (): Promise<{ readonly url: string; readonly both: string }> => {
    for (const pipe of pipes) pipe.ref();
    const { value: line } = await replies.next();
    for (const pipe of pipes) pipe.unref();
    if (line === undefined) throw new PostgresUnavailable('PostgreSQL cannot start: its guard has ended');
    const { error, ...told } = JSON.parse(line) as { url: string; both: string; error?: string };
    if (error !== undefined) throw new PostgresUnavailable(`PostgreSQL cannot start: ${error}`);
    return told;
  };
  const command = async (name: string) => {
    guard.stdin.write(`${name}\n`);
    return reply();
  };
  return {
    url: (await reply()).url,
    restart: async () => void (await command('restart')),
    command,
    async stop() {
      guard.ref();
      guard.stdin.end();
      await exited;
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
