import { setTimeout as sleep } from 'node:timers/promises';
import { replaySome, startLoad } from '../clients.ts';
import { watchPower } from '../power.ts';
import { note } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';
import { lacksStrace } from '../strace.ts';

const CLIENTS = 12;

/** A power cut under load: what was not synced is lost, all of it or a random part, sector by sector. */
export const powerLoss: Scenario = {
  name: 'power-loss',
  about: 'a power cut under load: the files keep what was synced, and a random part of the rest',
  engines: ['sqlite'],
  controls: [{ sabotage: 'synchronous-normal', engine: 'sqlite' }],
  lacks: lacksStrace,
  run(run) {
    let unsynced = 0;
    return inRounds(powerLoss, run, async ({ stage, report, random }) => {
      const server = await stage.start();
      const power = await watchPower(server.pid, stage.world.db);
      const load = startLoad(stage.ledger, random, CLIENTS, () => someServer(stage, 0));
      await sleep(random.between(50, 800));
      await server.kill();
      unsynced += await power.cut(random);
      if (report.rounds + 1 === run.rounds) note(report, `${unsynced} writes were not synced when the power was cut`);

      const next = await stage.start();
      await replaySome(stage.ledger, await load.stop(), 20, () => next.url);
      await next.kill();
    });
  },
};
