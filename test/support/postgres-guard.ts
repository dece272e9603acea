import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';
import { type Installation, installPostgres, run } from './postgres-binaries.ts';

// Runs one PostgreSQL server for the process that started this one. The end of stdin says that that process is gone,
// also when it was killed: the server is stopped then, and its folder removed. Each line on stdin is a command
// (restart, crash), each line on stdout its result: {url} or {error}.

const settings = JSON.parse(process.argv[2] ?? '[]') as [string, string | number][];

/** A port that was free a moment ago may be taken by the time that the server opens it. */
const PORT_ATTEMPTS = 5;

/** After a crash the children of the old server must be gone before a new one starts. */
const START_ATTEMPTS = 200;
const START_PAUSE_MS = 50;

const environment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
const commands = createInterface(process.stdin);
const ended = once(commands, 'close');
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => commands.close());
process.stdout.on('error', () => {}); // the reader may be gone

let server: ChildProcess | undefined;
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
  await stop('SIGQUIT');
  if (installation) rmSync(installation.folder, { recursive: true, force: true });
}
process.exit();

async function serve(place: Installation): Promise<void> {
  const password = randomBytes(12).toString('hex');
  initialise(place, password);
  const port = await startOnFreePort(place);
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  commands.on('line', async (command) => {
    try {
      await stop(command === 'crash' ? 'SIGKILL' : 'SIGINT');
      await startAgain(place, port);
      print({ url });
    } catch (error) {
      print({ error: String(error) });
    }
  });
  print({ url });
}

function initialise({ bin, folder, owner }: Installation, password: string): void {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner) chownSync(passwordFile, owner.uid, owner.gid);
  const access = [`--pgdata=${join(folder, 'data')}`, '--username=postgres', `--pwfile=${passwordFile}`];
  const flags = ['--auth=password', '--encoding=UTF8', '--locale=C', '--no-sync'];
  run(join(bin, 'initdb'), [...access, ...flags], { ...owner, cwd: folder, env: environment });
}

async function startOnFreePort(place: Installation): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    if (await start(place, port)) return port;
    if (attempt === PORT_ATTEMPTS) throw new Error(log);
  }
}

async function startAgain(place: Installation, port: number): Promise<void> {
  for (let attempt = 1; !(await start(place, port)); attempt += 1) {
    if (attempt === START_ATTEMPTS) throw new Error(log);
    await sleep(START_PAUSE_MS);
  }
}

/** Resolves to true when it accepts connections, to false when it has ended; `log` says why. */
async function start({ bin, folder, owner }: Installation, port: number): Promise<boolean> {
  if (isEnding) throw new Error('the process that it serves is gone');
  const network = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const flags = [...Object.entries(network), ...settings].flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(bin, 'postgres'), ['-D', join(folder, 'data'), ...flags], {
    ...owner,
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  server = child;
  log = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(false));
    child.stderr.on('data', (chunk: Buffer) => {
      log = `${log}${chunk}`.slice(-2_000);
      if (log.includes('ready to accept connections')) resolve(true);
    });
  });
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  const child = server;
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

function print(line: { readonly url: string } | { readonly error: string }): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
