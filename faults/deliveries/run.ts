import { setTimeout as sleep } from 'node:timers/promises';
import { checkDelivered } from '../check-delivered.ts';
import { checkRecord } from '../check-record.ts';
import type { Cluster } from '../cluster.ts';
import { startProducing } from '../produce.ts';
import type { Random } from '../random.ts';
import { openReceiver, type Receiver } from '../receiver.ts';
import { fail, newReport, type Report } from '../report.ts';
import type { Sabotage } from '../sabotage.ts';
import { type ServerProcess, type ServerSetup, startProcess } from '../server-process.ts';
import { spread } from '../spread.ts';
import { addWebhook, settle } from '../webhook.ts';
import { type Engine, makeWorld, type World } from '../world.ts';

/** Settings of a run. */
export interface DeliveriesPlan {
  readonly engine: Engine;
  readonly cluster: Cluster | null;
  readonly events: number;
  /** How often a server is killed, one of two on PostgreSQL. */
  readonly kills: number;
  /** How often PostgreSQL is restarted. */
  readonly restarts: number;
  readonly seed: number;
  readonly random: Random;
  /** Broken off after so long. */
  readonly maxSeconds: number;
  /** How long the last events may take once the receiver accepts everything. */
  readonly settleSeconds: number;
  /** The protection that is taken away; null leaves all in place. */
  readonly sabotage: Sabotage | null;
  readonly say: (line: string) => void;
}

/** Result of a run. */
export interface DeliveriesOutcome {
  readonly report: Report;
  readonly events: number;
  readonly kills: number;
  readonly restarts: number;
  readonly vanished: number;
  /** Requests that the receiver has read. */
  readonly attempts: number;
  /** Requests in which it accepted an event once more. */
  readonly duplicates: number;
  /** Events that it has never accepted. */
  readonly missing: number;
  /** How often it did what with a request. */
  readonly done: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** Attempts are short, repeated soon, and never given up; a dead server's work is taken over soon. */
const setup: ServerSetup = {
  webhooks: { timeoutMs: 120, leaseSeconds: 2, schedule: Array.from({ length: 1_000 }, () => 0.05) },
};

const LOOK_EVERY_MS = 100;

/** How far events run ahead of their deliveries, so that they are made until the end. */
const MAX_AHEAD = 1_000;

/** The faults are over once this share of the events was delivered. */
const FAULTY_SHARE = 0.98;

/** Makes events and has them sent to a receiver that does everything wrong, while servers are killed. */
export async function runDeliveries(plan: DeliveriesPlan): Promise<DeliveriesOutcome> {
  const world = await makeWorld(plan.engine, plan.cluster);
  const receiver = await openReceiver(plan.random);
  try {
    return await play(plan, world, receiver);
  } finally {
    await receiver.close();
    await world.remove();
  }
}

async function play(plan: DeliveriesPlan, world: World, receiver: Receiver): Promise<DeliveriesOutcome> {
  const { engine, random, say } = plan;
  const report = newReport('deliveries', engine, plan.seed);
  const started = performance.now();
  const servers: ServerProcess[] = [];
  const haveServers = async () => {
    while (servers.length < (engine === 'sqlite' ? 1 : 2)) {
      const server = await startProcess(world.db, plan.sabotage, { setup });
      servers.push(server);
      void server.exited.then((words) => {
        servers.splice(servers.indexOf(server), 1);
        if (words !== null) fail(report, 'wrong', `a server ended by itself: ${words.slice(0, 400)}`);
      });
    }
  };
  await haveServers();
  const accepted = () => [...receiver.sent.values()].filter((one) => one.accepted > 0).length;
  const urlOf = (attempt: number) => servers[attempt % Math.max(1, servers.length)]?.url;
  const first = await addWebhook(urlOf(0) ?? '', world.token, receiver.url);
  const allowed = () => accepted() + MAX_AHEAD;
  const producing = startProducing({ urlOf, token: world.token, count: plan.events, allowed });

  const kinds = {
    kill: async () => {
      await random.pick(servers).kill();
      await haveServers();
    },
    restart: async () => plan.cluster?.restart?.(),
    vanish: () => receiver.vanish(random.between(50, 400)),
  };
  const faults = spread({ kill: plan.kills, restart: plan.restarts, vanish: plan.kills }, random);
  const count = { kill: 0, restart: 0, vanish: 0 };
  const isLate = () => performance.now() - started > plan.maxSeconds * 1_000;
  for (const { at, kind } of faults) {
    while (accepted() < at * FAULTY_SHARE * plan.events && !isLate()) await sleep(LOOK_EVERY_MS);
    if (isLate()) break;
    await sleep(random.below(LOOK_EVERY_MS));
    await kinds[kind]();
    count[kind] += 1;
    if (kind !== 'vanish') say(`${kind} ${count[kind]}: ${accepted()} of ${plan.events} events delivered`);
  }
  while (accepted() < plan.events && !producing.isDone() && !isLate()) await sleep(LOOK_EVERY_MS);
  if (isLate()) fail(report, 'wrong', `not done after ${plan.maxSeconds} s`);
  const made = await producing.end(isLate);
  await receiver.recover();
  const { snapshot, events, missing } = await settle(world, receiver, first, plan.settleSeconds * 1_000);
  for (const server of [...servers]) {
    if (!(await server.stop(20_000))) fail(report, 'wrong', 'a server did not stop');
  }

  report.acknowledged = made.size;
  checkRecord(report, snapshot);
  checkDelivered(report, events, receiver.sent);
  const there = new Set(events.map(({ content }) => JSON.parse(content).resource_id));
  for (const id of made) if (!there.has(id)) fail(report, 'lost', `${id} was acknowledged and has no event`);
  const all = [...receiver.sent.values()];
  return {
    report,
    events: events.length,
    kills: count.kill,
    restarts: count.restart,
    vanished: count.vanish,
    attempts: all.reduce((sum, { attempts }) => sum + attempts, 0),
    duplicates: all.reduce((sum, one) => sum + Math.max(0, one.accepted - 1), 0),
    missing,
    done: receiver.done,
    seconds: (performance.now() - started) / 1_000,
  };
}
