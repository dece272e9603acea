import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A PostgreSQL server in a temporary folder. It ends, and the folder with it, when this process does, however it ends. */
export interface PostgresServer {
  /** The database `postgres`, as a superuser. */
  readonly url: string;
  /** Stops it in order and starts it again. */
  restart(): Promise<void>;
  /** Kills its first process and starts it again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** Why there is no PostgreSQL server, in one line that says how to name another. */
export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable';

  constructor(reason: string) {
    super(
      `PostgreSQL cannot start: ${reason.trim().replace(/\s*\n\s*/g, ' ')}; ` +
        'to use another server, set LKM_TEST_POSTGRES=postgres://user:password@host/postgres',
    );
  }
}

/** Starts a server from the binaries that npm brought. `settings` are those of postgresql.conf. */
export async function startPostgres(settings: Readonly<Record<string, string | number>>): Promise<PostgresServer> {
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
  const reply = async (): Promise<string> => {
    for (const pipe of pipes) pipe.ref();
    const { value: line } = await replies.next();
    for (const pipe of pipes) pipe.unref();
    if (line === undefined) throw new PostgresUnavailable('its guard has ended');
    const { url, error } = JSON.parse(line) as { url: string; error?: string };
    if (error !== undefined) throw new PostgresUnavailable(error);
    return url;
  };
  const command = async (name: 'restart' | 'crash') => {
    guard.stdin.write(`${name}\n`);
    await reply();
  };
  return {
    url: await reply(),
    restart: () => command('restart'),
    crash: () => command('crash'),
    async stop() {
      guard.ref();
      guard.stdin.end();
      await exited;
    },
  };
}
