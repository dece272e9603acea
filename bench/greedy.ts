import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { middle } from './figures.ts';
import type { Running } from './measure.ts';

/** How many connections one token has, and how long it asks for lists, in milliseconds. */
const [CONNECTIONS, DURATION_MS] = [32, 8_000];

/** Lists that read as much as a list can: two filters that fit few keys together, a total, a whole page. */
const WORST = [
  '/key/list?text=a&limit=1000&page=1',
  '/key/list?trial=false&status=unused&page=1&limit=1000',
  '/key/list?status=blocked&licenseType=floating&text=c&page=1',
  '/key/list?status=expired&trial=false&page=1&limit=1000',
  '/customer?email=nobody',
];

/** Medians in milliseconds, and how the lists of another token and of the greedy one were answered, by status. */
export interface Beside {
  readonly health: number;
  readonly create: number;
  readonly list: number;
  readonly lists: Readonly<Record<string, number>>;
  readonly greedy: Readonly<Record<string, number>>;
}

/** Times others alone, then beside a read-only token that asks for the worst lists over all of its connections. */
export async function timeBesideGreedy(server: Running, productId: string): Promise<readonly [idle: Beside, Beside]> {
  const { token } = (
    await server.call<{ data: { token: string } }>('POST', '/token', {
      name: 'greedy',
      kind: 'read-only',
    })
  ).data;
  const idle = await timeOthers(server, productId, {}, DURATION_MS / 4);
  const greedy: Record<string, number> = {};
  const load = autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: DURATION_MS / 1_000 + 2,
    headers: { authorization: `Bearer ${token}` },
    requests: WORST.map((path) => ({ path, onResponse: (status: number) => count(greedy, status) })),
  });
  await sleep(1_000);
  const beside = await timeOthers(server, productId, greedy, DURATION_MS);
  await load;
  return [idle, beside];
}

const count = (counts: Record<string, number>, status: number | string): void => {
  counts[status] = (counts[status] ?? 0) + 1;
};

async function timeOthers(server: Running, productId: string, greedy: Beside['greedy'], ms: number): Promise<Beside> {
  const lists: Record<string, number> = {};
  const times = { health: [] as number[], create: [] as number[], list: [] as number[] };
  const until = performance.now() + ms;
  const repeat = async (name: keyof typeof times, ask: () => Promise<unknown>) => {
    while (performance.now() < until) {
      const started = performance.now();
      await ask();
      times[name].push(performance.now() - started);
      await sleep(10);
    }
  };
  const list = () =>
    server.call('GET', '/key/list?cursor=').then(
      () => count(lists, 200),
      (error: Error) => count(lists, error.message),
    );
  await Promise.all([
    repeat('health', () => server.call('GET', '/health')),
    repeat('create', () => server.call('POST', '/create-key', { productId })),
    repeat('list', list),
  ]);
  return { health: middle(times.health), create: middle(times.create), list: middle(times.list), lists, greedy };
}
