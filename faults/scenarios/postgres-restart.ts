import { setTimeout as sleep } from 'node:timers/promises';
import { replaySome, startLoad } from '../clients.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';

const CLIENTS = 12;

/** PostgreSQL is restarted, or killed and started again, while two replicas are under load. */
export const postgresRestart: Scenario = {
  name: 'postgres-restart',
  about: 'PostgreSQL is restarted in order, or its first process killed, under load on two replicas',
  engines: ['postgres'],
  controls: [{ sabotage: 'early-answer', engine: 'postgres' }],
  lacks: ({ cluster }) => (cluster?.crash ? null : 'this PostgreSQL is not ours to stop'),
  run: (run) =>
    inRounds(postgresRestart, run, async ({ stage, random, index }) => {
      await stage.haveServers(2);
      const route = (attempt: number) => someServer(stage, attempt);
      const load = startLoad(stage.ledger, random, CLIENTS, route);
      await sleep(random.between(50, 800));
      await (index % 2 === 0 ? run.cluster?.crash?.() : run.cluster?.restart?.());
      await replaySome(stage.ledger, await load.stop(), 20, route);
    }),
};
