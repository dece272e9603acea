import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from '../load.ts';
import { openReceiver, type Receiver } from '../receiver.ts';
import { fail, type Report } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import type { Snapshot } from '../snapshot.ts';
import type { ServerSetup } from '../stage.ts';
import type { World } from '../world.ts';

/** How long the last events may take once the receiver accepts everything. */
const SETTLE_MS = 20_000;

/** Attempts are short and repeated often; a dead server's work is taken over soon. */
const setup: ServerSetup = {
  webhooks: { timeoutMs: 250, leaseSeconds: 2, schedule: [0.05] },
};

/** A receiver that fails in every way, while servers are killed and PostgreSQL is restarted. */
export const webhooks: Scenario = {
  name: 'webhooks',
  about: 'a receiver that fails in every way, servers that are killed, a database that is restarted',
  engines: ['sqlite', 'postgres'],
  controls: (['recorded-later', 'sent-early', 'no-retry'] as const).flatMap((sabotage) => [
    [sabotage, 'sqlite'] as const,
    [sabotage, 'postgres'] as const,
  ]),
  share: 3,
  shortRounds: 2,
  begin:
    () =>
    async ({ run, stage, report, random, index }) => {
      const receiver = await openReceiver(random);
      try {
        const count = run.engine === 'sqlite' ? 1 : 2;
        const server = await stage.haveServers(count, setup);
        const first = await addWebhook(server.url, stage.world.token, receiver.url);
        const turn = random.below(count);
        const load = startLoad(stage.ledger, random, { clients: 6, route: (attempt) => stage.url(attempt + turn) });
        await sleep(random.between(50, 600));
        await receiver.vanish(random.between(50, 300));
        await stage.servers[random.below(count)]?.kill();
        await stage.haveServers(count, setup);
        if (run.engine === 'postgres' && index % 2 === 1) await run.cluster?.restart?.();
        await sleep(random.between(50, 400));
        await load.stop();
        await stage.haveServers(count, setup);
        await receiver.recover();
        const events = await settle(stage.world, receiver, first);
        report.acknowledged += events.length;
        checkDelivered(report, events, receiver);
      } finally {
        await receiver.close();
      }
    },
};

/** Makes the only webhook of an account, in place of those that are there; returns the number of its first event. */
async function addWebhook(server: string, token: string, url: string): Promise<number> {
  for (const { id } of await callAs(token, server, 'GET', '/webhook')) {
    await callAs(token, server, 'DELETE', `/webhook/by-id?webhookId=${id}`);
  }
  return (await callAs(token, server, 'POST', '/webhook', { url })).lastSeq + 1;
}

/** The data of a response, which has to be a success. */
async function callAs(token: string, server: string, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${server}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text}`);
  return JSON.parse(text).data;
}

type Events = Snapshot['events'];

/** Waits until the receiver has accepted every event from `first` on, or the time is over; returns these events. */
async function settle(world: World, { sent }: Receiver, first: number): Promise<Events> {
  for (const deadline = performance.now() + SETTLE_MS; ; await sleep(200)) {
    const { outbox, ...snapshot } = await world.read();
    const events = snapshot.events.filter(({ seq }) => seq >= first);
    const isDone = outbox.length === 0 && events.every(({ seq }) => sent.get(seq)?.isAccepted);
    if (isDone || performance.now() > deadline) return events;
  }
}

/** Each event of the record was accepted at least once, all attempts had its id and one body, and nothing else was sent. */
function checkDelivered(report: Report, events: Events, { sent }: Receiver): void {
  const ids = new Map(events.map(({ seq, content }) => [seq, JSON.parse(content).id]));
  for (const seq of ids.keys()) {
    if (!sent.get(seq)?.isAccepted) fail(report, 'lost', `event ${seq} was not delivered`);
  }
  for (const [seq, { ids: known, bodies }] of sent) {
    if (known.size > 1 || bodies.size > 1) fail(report, 'doubled', `event ${seq} with ${known.size} ids`);
    if (ids.get(seq) !== [...known][0]) fail(report, 'wrong', `event ${seq} was sent, and is not in the record`);
  }
}
