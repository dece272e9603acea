import { setTimeout as sleep } from 'node:timers/promises';
import { checkDelivered } from '../check-delivered.ts';
import { startLoad } from '../clients.ts';
import { openReceiver } from '../receiver.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import type { ServerSetup } from '../server-process.ts';
import { someServer } from '../stage.ts';
import { addWebhook, settle } from '../webhook.ts';

const CLIENTS = 6;

/** How long the last events may take once the receiver accepts everything. */
const SETTLE_MS = 20_000;

/** Attempts are short, repeated often, and never given up; a dead server's work is taken over soon. */
const setup: ServerSetup = {
  webhooks: { timeoutMs: 250, leaseSeconds: 2, schedule: Array.from({ length: 500 }, () => 0.05) },
};

/** A receiver that fails in every way, while servers are killed and PostgreSQL is restarted. */
export const webhooks: Scenario = {
  name: 'webhooks',
  about: 'a receiver that fails in every way, servers that are killed, a database that is restarted',
  engines: ['sqlite', 'postgres'],
  controls: [
    { sabotage: 'recorded-later', engine: 'sqlite' },
    { sabotage: 'sent-early', engine: 'sqlite' },
    { sabotage: 'refused-is-final', engine: 'sqlite' },
    { sabotage: 'recorded-later', engine: 'postgres' },
    { sabotage: 'sent-early', engine: 'postgres' },
    { sabotage: 'refused-is-final', engine: 'postgres' },
  ],
  lacks: () => null,
  run: (run) =>
    inRounds(webhooks, run, async ({ stage, report, random, index }) => {
      const receiver = await openReceiver(random);
      try {
        const count = run.engine === 'sqlite' ? 1 : 2;
        const haveServers = async () => {
          while (stage.servers.length < count) await stage.start(stage.world.db, setup);
        };
        await haveServers();
        const first = await addWebhook(someServer(stage, 0), stage.world.token, receiver.url);
        const turn = random.below(count);
        const load = startLoad(stage.ledger, random, CLIENTS, (attempt) => someServer(stage, attempt + turn));
        await sleep(random.between(50, 600));
        await receiver.vanish(random.between(50, 300));
        await stage.servers[random.below(count)]?.kill();
        await haveServers();
        if (run.engine === 'postgres' && index % 2 === 1) await run.cluster?.restart?.();
        await sleep(random.between(50, 400));
        await load.stop();
        await haveServers();
        await receiver.recover();
        const { events, missing } = await settle(stage.world, receiver, first, SETTLE_MS);
        report.acknowledged += events.length - missing;
        checkDelivered(report, events, receiver.sent);
      } finally {
        await receiver.close();
      }
    }),
};
