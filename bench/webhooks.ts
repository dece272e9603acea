import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { inTurns, TURN_SECONDS, TURNS, WARM_UP_SECONDS } from './compare.ts';
import { makeDatabase, onCluster } from './database.ts';
import { print } from './figures.ts';
import { listWebhooks, type Side, settle, start } from './measure.ts';

const RECEIVERS = 3;

/** Deliveries begin a moment after the requests, and go on a moment longer: in short turns that would be much of them. */
const LONG_TURN_SECONDS = 2.5;

/** Keys per second, of which the lag of deliveries is measured: with what a server has to spare. */
const CALM_RATE = 100;

/** Measures what webhooks take from those who issue keys, how many events are delivered, and how soon. */
export async function benchWebhooks(): Promise<void> {
  const receivers = await Promise.all(Array.from({ length: RECEIVERS }, openReceiver));
  const urls = receivers.map(({ url }) => url);
  try {
    await beside(urls);
    print('\nwebhooks', 'deliveries/s', 'lag, ms', 'lag p99, ms');
    const fixture = () => makeDatabase(1_000);
    await deliveriesOf('one process', { server: 'lkm serve', fixture, receivers: urls }, receivers);
    await onCluster(async (cluster) => {
      const fixture = await makeDatabase(1_000, cluster);
      await deliveriesOf('two replicas', { server: 'lkm serve', fixture, receivers: urls, replicas: 2 }, receivers);
      await fixture.remove();
    });
  } finally {
    for (const receiver of receivers) receiver.close();
  }
}

async function beside(receivers: readonly string[]): Promise<void> {
  const fixture = () => makeDatabase(1_000);
  print('', 'no webhook', 'three webhooks', 'ratio', 'goal');
  const { one, other, ratio } = await inTurns(
    'create-key once',
    { server: 'lkm serve', fixture },
    { server: 'lkm serve', fixture, receivers },
    { turns: Math.ceil((TURNS * TURN_SECONDS) / LONG_TURN_SECONDS), seconds: LONG_TURN_SECONDS },
  );
  print('create-key once', one.rate, other.rate, ratio, 0.8);
}

/** Deliveries per second of a backlog; and how long one takes while keys are issued without haste. */
async function deliveriesOf(name: string, side: Side, receivers: readonly Receiver[]): Promise<void> {
  const server = await start(side);
  try {
    await server.load('create-key once', WARM_UP_SECONDS);
    const events = await settle(server);
    for (const receiver of receivers) await receiver.take();
    const started = performance.now();
    for (const { id: webhookId } of await listWebhooks(server)) {
      await server.call('POST', '/webhook/replay', { webhookId, after: 0 });
    }
    await settle(server);
    const rate = (events * receivers.length * 1_000) / (performance.now() - started);
    for (const receiver of receivers) await receiver.take();
    await server.load('create-key once', TURNS * TURN_SECONDS, CALM_RATE);
    const lags = (await Promise.all(receivers.map((receiver) => receiver.take()))).flat().sort((a, b) => a - b);
    const at = (share: number) => lags[Math.floor(lags.length * share)] ?? Number.NaN;
    print(name, rate, at(0.5), at(0.99));
  } finally {
    await server.stop();
  }
}

/** A receiver in a process of its own. */
interface Receiver {
  readonly url: string;
  /** How long after their creation events have come since the last time, in milliseconds. */
  take(): Promise<readonly number[]>;
  close(): void;
}

async function openReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'receiving-server.ts'));
  const [port] = await once(child, 'message');
  return {
    url: `http://127.0.0.1:${port}/`,
    async take() {
      const answer = once(child, 'message');
      child.send('take');
      const [lags]: readonly number[][] = await answer;
      return lags ?? [];
    },
    close: () => child.disconnect(),
  };
}
