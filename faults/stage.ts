import { check, tally } from './check.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { fail, note, type Report } from './report.ts';
import type { Run } from './scenario.ts';
import { type ServerProcess, type ServerSetup, startProcess } from './server-process.ts';
import type { World } from './world.ts';

/** A world with its ledger and its servers. */
export interface Stage {
  readonly world: World;
  readonly ledger: Ledger;
  /** Those that are alive, oldest first. */
  readonly servers: readonly ServerProcess[];
  /** Starts servers until there are `count`. */
  haveServers(count: number): Promise<void>;
  /** Starts one more, on the world's database or on the way to it. */
  start(db?: string, setup?: ServerSetup): Promise<ServerProcess>;
  /** Compares the ledger with the database, and asks whether every server is still there that was not killed. */
  check(report: Report): Promise<void>;
  /** Adds what was acknowledged to the report, and takes everything away. */
  close(report: Report): Promise<void>;
}

/** Opens the ledger of an empty world. */
export async function setStage(run: Run, world: World): Promise<Stage> {
  const ledger = openLedger(world, { keepKey: run.sabotage !== 'new-key-on-retry' });
  const servers: ServerProcess[] = [];
  const lastWords: string[] = [];

  const start = async (db = world.db, setup: ServerSetup = {}) => {
    const server = await startProcess(db, run.sabotage, { through: world.through, setup });
    servers.push(server);
    void server.exited.then((words) => {
      servers.splice(servers.indexOf(server), 1);
      if (words !== null) lastWords.push(words);
    });
    return server;
  };
  return {
    world,
    ledger,
    servers,
    start,
    async haveServers(count) {
      while (servers.length < count) await start();
    },
    async check(report) {
      for (const words of lastWords.splice(0))
        fail(report, 'wrong', `a server ended by itself: ${words.slice(0, 400)}`);
      check(report, ledger, await world.read());
    },
    async close(report) {
      for (const server of [...servers]) await server.kill();
      tally(report, ledger);
      if (process.env.LKM_FAULT_LOG !== undefined) note(report, JSON.stringify([...ledger.unsettling]));
      await ledger.close();
      await world.remove();
    },
  };
}

/** So many intents that comparing all of them begins to take longer than making them. */
const MANY = 3_000;

/** Whether it is time for an empty world. */
export const isFull = ({ ledger }: Stage): boolean => ledger.intents.length > MANY;

/** Some server that is alive. */
export function someServer({ servers }: Pick<Stage, 'servers'>, attempt: number): string {
  return servers[attempt % Math.max(1, servers.length)]?.url ?? 'http://127.0.0.1:9';
}
