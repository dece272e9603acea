import { linkSync, mkdtempDisposableSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { replaySome, startLoad } from '../load.ts';
import { type Child, firstLine, type Listening, lkm, start } from '../process.ts';
import { fail, hasFailed } from '../report.ts';
import type { Round, Scenario } from '../scenario.ts';
import { startServer } from '../stage.ts';

/** Servers that try to come in at the same time. */
const INTRUDERS = 2;

/** The exit code of a command that fails for a reason on this machine. */
const REFUSED = 13;

/** The longest that a command waits for a file, and starts. */
const INTRUSION_TIMEOUT_MS = 30_000;

/** How long two servers on one file work beside each other. */
const DAMAGE_MS = 500;

/** How a second server finds the file of the first. */
interface Detour {
  readonly name: string;
  /** Makes the way; returns the path to serve unless it is `other`. */
  open(db: string, other: string): string | undefined;
  /** Puts everything back, if it has to be; `other` is removed. */
  close?(db: string, other: string): void;
}

/** Files beside the database that only inform, or make others wait: lkm makes them again. */
const withoutFiles = (...ends: readonly string[]): Detour => ({
  name: `its own name without ${ends.join(' and ') || 'anything being changed'}`,
  open(db) {
    for (const end of ends) rmSync(`${db}${end}`, { force: true });
    return db;
  },
});

const renamed = (name: string, ends: readonly string[]): Detour => ({
  name,
  open: (db, other) => void ends.forEach((end) => void renameSync(`${db}${end}`, `${other}${end}`)),
  close: (db, other) => void ends.forEach((end) => void renameSync(`${other}${end}`, `${db}${end}`)),
});

/** Links first: the control lets a server in under the first of them. */
const detours: readonly Detour[] = [
  { name: 'a hard link', open: (db, other) => void linkSync(db, other) },
  { name: 'a symbolic link', open: (db, other) => void symlinkSync(db, other) },
  {
    name: 'a symbolic link to its folder',
    open(db, other) {
      symlinkSync(dirname(db), other);
      return join(other, basename(db));
    },
  },
  withoutFiles(),
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
  controls: [['lock-by-path', 'sqlite']],
  share: 2,
  shortRounds: 9,
  begin:
    () =>
    async ({ run, stage, report, random, index }) => {
      const { ledger, world } = stage;
      await stage.haveServers(1);
      const inside: Pick<Listening, 'url' | 'end'>[] = [];
      const route = (attempt: number) => {
        const all = [...stage.servers, ...inside];
        return all[random.below(all.length)]?.url ?? stage.url(attempt);
      };
      const load = startLoad(ledger, random, { clients: 6, route });
      const detour = detours[index % detours.length] as Detour;
      const other = `${world.db}-other-${index}`;
      const path = detour.open(world.db, other) ?? other;
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
        for (const intruder of inside.splice(0)) await intruder.end('SIGKILL');
        detour.close?.(world.db, other);
        for (const end of ['', '-wal', '-shm', '-lock', '-owner']) {
          rmSync(`${other}${end}`, { recursive: true, force: true });
        }
      }
      // In some rounds the file changes hands: the next one has to get it at once.
      const isBroken = hasFailed(report);
      if (isBroken || random.below(3) === 0) {
        await stage.servers[0]?.kill();
        await stage.haveServers(1);
      }
      const asked = await load.stop();
      if (!isBroken) await replaySome(ledger, asked, route);
    },
};

/** Starts a second server on the path; null when it is refused. */
async function intrude({ run, report }: Pick<Round, 'run' | 'report'>, path: string) {
  // With the protection taken away, from the intruder too.
  if (run.sabotage !== null) return startServer(path, { without: run.sabotage }).catch(() => null);
  using home = mkdtempDisposableSync(join(tmpdir(), 'lkm-faults-home-'));
  const options = ['--port', '0', '--json', '--log-format', 'none', '--rate-limit', 'off'];
  const child: Child = start([...lkm, 'serve', '--db', path, ...options], {
    env: { PATH: process.env.PATH, HOME: home.path },
    timeout: INTRUSION_TIMEOUT_MS,
  });
  const outcome = await Promise.race([firstLine(child), child.ended]);
  if (typeof outcome === 'object') return { url: outcome.url, end: child.end };
  if (outcome !== REFUSED) fail(report, 'wrong', `a second server ended with ${outcome}: ${child.said()}`);
  return null;
}
