import { join } from 'node:path';
import type { ServeOptions } from '../src/server/serve.ts';
import { check, tally } from './check.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { type Listening, startListening } from './process.ts';
import { fail, type Report } from './report.ts';
import type { Sabotage } from './sabotages.ts';
import type { Run } from './scenario.ts';
import type { World } from './world.ts';

/** How a server differs from one that is started without options. */
export interface ServerSetup extends Pick<ServeOptions, 'webhooks'> {
  /** After how many pages SQLite's log is full; without a number, as on a large disk. */
  readonly walPages?: number;
}

/** A server that was started on a stage. */
export interface Server extends Listening {
  kill(): Promise<void>;
}

/** A world with its ledger and its servers. */
export interface Stage {
  readonly world: World;
  readonly ledger: Ledger;
  /** Those that are alive, oldest first. */
  readonly servers: readonly Server[];
  /** The address of one of them, the next one with each attempt. */
  readonly url: (attempt?: number) => string;
  /** Starts servers until there are `count`; returns the oldest. */
  haveServers(count: number, setup?: ServerSetup): Promise<Server>;
  /** Starts one more. */
  start(setup?: ServerSetup): Promise<Server>;
  /** Compares the ledger with the database, and asks whether every server is still there that was not killed. */
  check(report: Report): Promise<void>;
  /** Adds what was acknowledged to the report, and takes everything away. */
  close(report: Report): Promise<void>;
}

/** Starts a server of the sources in a process of its own, with a protection taken away or none. */
export function startServer(
  db: string,
  { without, setup = {}, through = [] }: { without: Sabotage | null; setup?: ServerSetup; through?: readonly string[] },
): Promise<Listening> {
  const given = JSON.stringify({ db, without, setup });
  const argv = [...through, process.execPath, join(import.meta.dirname, 'server.ts'), given];
  return startListening(argv, { hasStdin: true });
}

/** Opens the ledger of an empty world. */
export async function setStage(run: Run, world: World): Promise<Stage> {
  const ledger = openLedger(world, { keepKey: run.sabotage !== 'new-key-on-retry' });
  const servers: Server[] = [];
  const lastWords: string[] = [];

  async function start(setup?: ServerSetup): Promise<Server> {
    const options = { without: run.sabotage, through: world.through, ...(setup && { setup }) };
    const child = await startServer(world.db, options);
    const server: Server = { ...child, kill: () => child.end('SIGKILL') };
    servers.push(server);
    void child.ended.then((code) => {
      servers.splice(servers.indexOf(server), 1);
      if (code !== 'SIGKILL') lastWords.push(`${code} ${child.said()}`);
    });
    return server;
  }

  return {
    world,
    ledger,
    servers,
    start,
    url: (attempt = 0) => servers[attempt % Math.max(1, servers.length)]?.url ?? 'http://127.0.0.1:9',
    async haveServers(count, setup) {
      while (servers.length < count) await start(setup);
      return servers[0] as Server;
    },
    async check(report) {
      for (const words of lastWords.splice(0))
        fail(report, 'wrong', `a server ended by itself: ${words.slice(0, 400)}`);
      check(report, ledger, await world.read());
    },
    async close(report) {
      for (const server of [...servers]) await server.kill();
      tally(report, ledger);
      await ledger.close();
      await world.remove();
    },
  };
}

/** So many intents that comparing all of them begins to take longer than making them. */
const MANY = 3_000;

/** Whether it is time for an empty world. */
export const isFull = ({ ledger }: Stage): boolean => ledger.intents.length > MANY;
