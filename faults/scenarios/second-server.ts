import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { replaySome, startLoad } from '../clients.ts';
import { fail, hasFailed } from '../report.ts';
import { inRounds, type Round, type Scenario } from '../scenario.ts';
import { type ServerProcess, startProcess } from '../server-process.ts';
import { someServer } from '../stage.ts';

const CLIENTS = 6;

/** Servers that try to come in at the same time. */
const INTRUDERS = 2;

/** The exit code of a command that fails for a reason on this machine. */
const REFUSED = '13';

/** The longest that a command waits for a file, and starts. */
const INTRUSION_TIMEOUT_MS = 30_000;

/** A second server that was let in. */
type Intruder = Pick<ServerProcess, 'url' | 'kill'>;

/** How long two servers on one file work beside each other. */
const DAMAGE_MS = 500;

/** How a second server finds the file of the first. */
interface Detour {
  readonly name: string;
  /** Makes the way, and returns the path to serve. */
  open(db: string, other: string): string;
  /** Puts everything back. */
  close(db: string, other: string): void;
}

const removed = (_db: string, other: string): void => rmSync(other, { recursive: true, force: true });

/** Files beside the database that only inform, or make others wait: lkm makes them again. */
const withoutFiles = (...ends: readonly string[]): Detour => ({
  name: `its own name without ${ends.join(' and ')}`,
  open(db) {
    for (const end of ends) rmSync(`${db}${end}`, { force: true });
    return db;
  },
  close: () => {},
});

const renamed = (name: string, ends: readonly string[]): Detour => ({
  name,
  open(db, other) {
    for (const end of ends) renameSync(`${db}${end}`, `${other}${end}`);
    return other;
  },
  close(db, other) {
    for (const end of ends) renameSync(`${other}${end}`, `${db}${end}`);
  },
});

/** Links first: the control lets a server in under the first of them. */
const detours: readonly Detour[] = [
  {
    name: 'a hard link',
    open(db, other) {
      linkSync(db, other);
      return other;
    },
    close: removed,
  },
  {
    name: 'a symbolic link',
    open(db, other) {
      symlinkSync(db, other);
      return other;
    },
    close: removed,
  },
  {
    name: 'a symbolic link to its folder',
    open(db, other) {
      symlinkSync(dirname(db), other);
      return join(other, basename(db));
    },
    close: removed,
  },
  {
    name: 'its own name',
    open: (db) => db,
    close: () => {},
  },
  withoutFiles('-lock'),
  withoutFiles('-owner'),
  withoutFiles('-lock', '-owner'),
  renamed('a new name', ['']),
  renamed('a new name with its log', ['', '-wal']),
];

/** A second server on the file of a first one, under every other name: it is refused, whatever the first one does. */
export const secondServer: Scenario = {
  name: 'second-server',
  about: 'servers started on a file that is served under load: by links, by new names, with the lock files removed',
  engines: ['sqlite'],
  controls: [{ sabotage: 'lock-by-path', engine: 'sqlite' }],
  lacks: () => null,
  run: (run) =>
    inRounds(secondServer, run, async ({ stage, report, random, index }) => {
      const { ledger, world } = stage;
      await stage.haveServers(1);
      const inside: Intruder[] = [];
      const route = (attempt: number) => {
        const all = [...stage.servers, ...inside];
        return all[random.below(all.length)]?.url ?? someServer(stage, attempt);
      };
      const load = startLoad(ledger, random, CLIENTS, route);
      const detour = detours[index % detours.length] ?? withoutFiles();
      const other = `${world.db}-other-${index}`;
      const path = detour.open(world.db, other);
      try {
        const intrusions = Array.from({ length: INTRUDERS }, () => intrude({ run, report }, path));
        for (const intruder of await Promise.all(intrusions)) {
          if (intruder === null) continue;
          inside.push(intruder);
          fail(report, 'wrong', `a second server was not refused under ${detour.name}`);
        }
        // One that is let in shall show what it does to the data.
        if (inside.length > 0) await sleep(DAMAGE_MS);
      } finally {
        for (const intruder of inside.splice(0)) await intruder.kill();
        detour.close(world.db, other);
        for (const end of ['-wal', '-shm', '-lock', '-owner']) rmSync(`${other}${end}`, { force: true });
      }
      // In some rounds the file changes hands: the next one has to get it at once.
      const isBroken = hasFailed(report);
      if (isBroken || random.below(3) === 0) {
        await stage.servers[0]?.kill();
        await stage.haveServers(1);
      }
      const asked = await load.stop();
      if (!isBroken) await replaySome(ledger, asked, 20, route);
    }),
};

/** Starts a second server on the path; null when it is refused. */
async function intrude({ run, report }: Pick<Round, 'run' | 'report'>, path: string): Promise<Intruder | null> {
  // With the protection taken away, from the intruder too.
  if (run.sabotage !== null) return startProcess(path, run.sabotage).catch(() => null);
  const home = mkdtempSync(join(tmpdir(), 'lkm-faults-home-'));
  const lkm = join(import.meta.dirname, '../../bin/lkm.js');
  const argv = [lkm, 'serve', '--db', path, '--port', '0', '--json', '--log-format', 'none', '--rate-limit', 'off'];
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home },
    timeout: INTRUSION_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  let talk = '';
  child.stderr.on('data', (chunk: Buffer) => {
    talk += chunk;
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    rmSync(home, { recursive: true, force: true });
    return code ?? signal;
  });
  const ready = once(child.stdout, 'data').then(([line]) => JSON.parse(String(line)) as { url: string });
  const outcome = await Promise.race([ready, ended.then(String)]);
  if (typeof outcome !== 'string') {
    const kill = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    return { url: outcome.url, kill };
  }
  if (outcome !== REFUSED) fail(report, 'wrong', `a second server ended with ${outcome}: ${talk}`);
  return null;
}
