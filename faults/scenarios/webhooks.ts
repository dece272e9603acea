import { setTimeout as sleep } from 'node:timers/promises';
import { checkDelivered } from '../check-delivered.ts';
import { startLoad } from '../clients.ts';
import { openReceiver, type Receiver } from '../receiver.ts';
import type { Report } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import type { ServerSetup } from '../server-process.ts';
import { type Stage, someServer } from '../stage.ts';

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
        const first = await addWebhook(stage, receiver.url);
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
        await settle(stage, receiver, first, report);
      } finally {
        await receiver.close();
      }
    }),
};

/** Makes the webhook of a round, and removes those of the rounds before; returns the number of its first event. */
async function addWebhook({ servers, world }: Stage, url: string): Promise<number> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${world.token}`, 'content-type': 'application/json' };
    const response = await fetch(`${servers[0]?.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${await response.text()}`);
    return JSON.parse(await response.text()).data;
  };
  for (const { id } of await call('GET', '/webhook')) await call('DELETE', `/webhook/by-id?webhookId=${id}`);
  return (await call('POST', '/webhook', { url })).lastSeq + 1;
}

/** Waits until every event of the record was accepted, and compares what was sent with the record. */
async function settle({ world }: Stage, { sent }: Receiver, first: number, report: Report): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const { record } = await world.read();
    const events = record.events.filter(({ seq }) => seq >= first);
    const missing = events.filter(({ seq }) => (sent.get(seq)?.accepted ?? 0) === 0);
    const isOver = performance.now() > deadline;
    if (!isOver && (missing.length > 0 || record.outbox.length > 0)) {
      await sleep(100);
      continue;
    }
    report.acknowledged += events.length - missing.length;
    checkDelivered(report, events, sent);
    return;
  }
}
