import { setTimeout as sleep } from 'node:timers/promises';
import { underLoad } from '../load.ts';
import type { Scenario } from '../scenario.ts';

const CLIENTS = 12;

/** A log so short that its thread always has something to copy. */
const SHORT_LOG_PAGES = 400;

/** `kill -9` at a random moment under load: of the only server on SQLite, of one of two on PostgreSQL. */
export const killLoop: Scenario = {
  name: 'kill-loop',
  about: 'kill -9 of a server under load; clients ask again under the same keys',
  engines: ['sqlite', 'postgres'],
  controls: [
    ['early-answer', 'sqlite'],
    ['early-answer', 'postgres'],
    ['new-key-on-retry', 'sqlite'],
    ['recorded-later', 'sqlite'],
    ['recorded-later', 'postgres'],
    ['no-stored-answer', 'postgres'],
  ],
  share: 5,
  shortRounds: 3,
  begin:
    () =>
    async ({ run, stage, random, index }) => {
      const servers = run.engine === 'sqlite' ? 1 : 2;
      const setup = index % 2 === 0 ? {} : { walPages: SHORT_LOG_PAGES };
      await stage.haveServers(servers, setup);
      const turn = random.below(servers);
      const route = (attempt: number) => stage.url(attempt + turn);
      await underLoad(stage.ledger, random, { clients: CLIENTS, route }, async () => {
        await sleep(random.between(20, 800));
        await stage.servers[random.below(servers)]?.kill();
        // On PostgreSQL the other replica alone brings every client to its end.
        if (run.engine === 'sqlite') await stage.haveServers(1, setup);
      });
    },
};
