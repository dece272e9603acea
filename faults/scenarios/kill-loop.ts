import { setTimeout as sleep } from 'node:timers/promises';
import { replaySome, startLoad } from '../clients.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';

const CLIENTS = 12;

/** `kill -9` at a random moment under load: of the only server on SQLite, of one of two on PostgreSQL. */
export const killLoop: Scenario = {
  name: 'kill-loop',
  about: 'kill -9 of a server under load; clients ask again under the same keys',
  engines: ['sqlite', 'postgres'],
  controls: [
    { sabotage: 'early-answer', engine: 'sqlite' },
    { sabotage: 'early-answer', engine: 'postgres' },
    { sabotage: 'new-key-on-retry', engine: 'sqlite' },
    { sabotage: 'recorded-later', engine: 'sqlite' },
    { sabotage: 'recorded-later', engine: 'postgres' },
    { sabotage: 'no-stored-answer', engine: 'postgres' },
  ],
  lacks: () => null,
  run: (run) =>
    inRounds(killLoop, run, async ({ stage, random }) => {
      const count = run.engine === 'sqlite' ? 1 : 2;
      await stage.haveServers(count);
      const turn = random.below(count);
      const route = (attempt: number) => someServer(stage, attempt + turn);
      const load = startLoad(stage.ledger, random, CLIENTS, route);
      await sleep(random.between(20, 800));
      await stage.servers[random.below(count)]?.kill();
      // On PostgreSQL the other replica alone brings every client to its end.
      if (run.engine === 'sqlite') await stage.haveServers(1);
      await replaySome(stage.ledger, await load.stop(), 20, route);
    }),
};
