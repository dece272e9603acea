import { setTimeout as sleep } from 'node:timers/promises';
import { openReceiver } from '../receiver.ts';
import type { Scenario } from '../scenario.ts';
import { addWebhook, callAs, checkDelivered, settle } from './webhooks.ts';

const DAY_MS = 86_400_000;

/** How long a server has for the attempts that are due after each step of its clock. */
const ATTEMPT_MS = 150;

/** A receiver that is not there for days, by the clock of a test, while servers are killed. */
export const receiverAway: Scenario = {
  name: 'receiver-away',
  about: 'a receiver that is away for 1, 4, 6 or 20 days, and servers that are killed meanwhile',
  engines: ['sqlite', 'postgres'],
  controls: [
    ['missed-left-out', 'sqlite'],
    ['missed-left-out', 'postgres'],
  ],
  share: 2,
  shortRounds: 2,
  begin: () => {
    let clockMs = Date.now();
    return async ({ run, stage, report, random }) => {
      const setup = () => ({ clockMs, webhooks: { timeoutMs: 250, leaseSeconds: 1 } });
      const receiver = await openReceiver(random);
      try {
        const call = (method: string, path: string, body?: object) =>
          callAs(stage.world.token, stage.url(), method, path, body);
        for (const server of [...stage.servers]) await server.kill();
        await stage.haveServers(1, setup());
        const ordered = random.below(2) === 0;
        const first = await addWebhook(stage.url(), stage.world.token, receiver.url, { ordered });
        const [{ id }] = await call('GET', '/webhook');
        // Changes of a webhook that is never sent anything are the events: the ledger knows of all others.
        const other = await call('POST', '/webhook', { url: 'http://127.0.0.1:9/', active: false });
        await receiver.close();
        const days = random.pick([1, 4, 6, 20]);
        for (let day = 0; day < days; day += 1) {
          for (let made = random.below(4); made > 0; made -= 1) {
            await call('PUT', `/webhook/by-id?webhookId=${other.id}`, { description: `${day} ${made}` });
          }
          if (random.below(3) === 0) {
            await stage.servers[0]?.kill();
            await stage.haveServers(1, setup());
          }
          clockMs += DAY_MS;
          await call('POST', '/_test/clock', { now: new Date(clockMs).toISOString() });
          await sleep(ATTEMPT_MS);
        }
        await receiver.recover();
        const from = run.sabotage === 'missed-left-out' && { from: 'now' };
        await call('PUT', `/webhook/by-id?webhookId=${id}`, { active: true, ...from });
        const events = await settle(stage.world, receiver, first, run.sabotage === null ? undefined : 2_000);
        report.acknowledged += events.length;
        checkDelivered(report, events, receiver);
      } finally {
        await receiver.close();
      }
    };
  },
};
