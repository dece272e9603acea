import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { connect, query } from './postgres.ts';

/** A hot standby that streams from a server of `startPostgres`. */
export interface StandbyServer {
  /** The database `postgres` on it, as a superuser. */
  readonly url: string;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  start(): Promise<void>;
  /** Ends its recovery: it is a server of its own from then on. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/** Copies a running primary and starts the copy as its standby; both are on this machine. */
export async function startStandby(
  primary: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<StandbyServer> {
  const source = await connect(primary);
  const { rows } = await source.query(
    `select current_setting('data_directory') as data, (select setting from pg_config where name = 'BINDIR') as bin`,
  );
  const { data, bin } = rows[0];
  const port = await freePort();
  // Beside the data of the primary, so that it goes when that does.
  const folder = `${data}-standby-${port}`;
  await source.query(`select pg_backup_start('standby', true)`);
  cpSync(data, folder, { recursive: true, filter: (path) => !/\/postmaster\.(pid|opts)$/.test(path) });
  const { rows: stopped } = await source.query('select labelfile from pg_backup_stop(false)');
  await source.end();
  writeFileSync(join(folder, 'backup_label'), stopped[0].labelfile);
  writeFileSync(join(folder, 'standby.signal'), '');
  const owner = ownAs(folder, statSync(data));

  const { username, password, port: primaryPort } = new URL(primary);
  const all = {
    primary_conninfo: `host=127.0.0.1 port=${primaryPort} user=${username} password=${password}`,
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let child: ChildProcess;
  const start = async () => {
    child = spawn(join(bin, 'postgres'), ['-D', folder, ...flags], {
      ...owner,
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await untilReady(child);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  process.once('exit', () => child.kill('SIGKILL'));
  await start();
  const url = new URL(primary);
  url.port = String(port);
  return {
    url: url.href,
    kill: () => end('SIGKILL'),
    start,
    promote: async () => void (await query(url.href, 'select pg_promote()')),
    stop: async () => {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the standby has ended: ${log}`)));
    child.stderr?.on('data', (chunk: Buffer) => {
      log = `${log}${chunk}`.slice(-2_000);
      if (log.includes('ready to accept read-only connections')) resolve();
    });
  });
}

/** Gives a copy to the user that the original belongs to; null where that is the user of this process. */
function ownAs(folder: string, { uid, gid }: { readonly uid: number; readonly gid: number }) {
  if (uid === process.getuid?.()) return null;
  chownSync(folder, uid, gid);
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chownSync(join(parentPath, name), uid, gid);
  }
  return { uid, gid };
}
