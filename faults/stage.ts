import { join } from 'node:path';
import type { ServeOptions } from '../src/server/serve.ts';
import { check, tally } from './check.ts';
import { openLedger } from './ledger.ts';
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
export type Stage = Awaited<ReturnType<typeof setStage>>;

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
export async function setStage(run: Run, world: World) {
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
    /** Those that are alive, oldest first. */
    servers: servers as readonly Server[],
    /** Starts one more. */
    start,
    /** The address of one of them, the next one with each attempt. */
    url: (attempt = 0): string => servers[attempt % Math.max(1, servers.length)]?.url ?? 'http://127.0.0.1:9',
    /** Starts servers until there are `count`; returns the oldest. */
    async haveServers(count: number, setup?: ServerSetup): Promise<Server> {
      while (servers.length < count) await start(setup);
      return servers[0] as Server;
    },
    /** Compares the ledger with the database, and asks whether every server is still there that was not killed. */
    async check(report: Report): Promise<void> {
      for (const words of lastWords.splice(0))
        fail(report, 'wrong', `a server ended by itself: ${words.slice(0, 400)}`);
      check(report, ledger, await world.read());
    },
    /** Adds what was acknowledged to the report, and takes everything away. */
    async close(report: Report): Promise<void> {
      for (const server of [...servers]) await server.kill();
      tally(report, ledger);
      await ledger.close();
      await world.remove();
    },
  };
}

/** Whether it is time for an empty world: comparing more intents would take longer than making them. */
export const isFull = ({ ledger }: Stage): boolean => ledger.intents.length > 3_000;
