import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { makeVaried, type Varied } from './database.ts';
import { middle, print, quantile } from './figures.ts';
import { CONNECTIONS, type Running, start } from './measure.ts';

const ROUNDS = 15;

/** Starts a server of this checkout on a database of varied keys. */
const serve = (fixture: Varied): Promise<Running> =>
  start({ root: dirname(import.meta.dirname), fixture: async () => fixture });

/**
 * Prints how long first pages and numbers of so many keys take, and what `GET /health` takes in the same moments; then what
 * others feel beside a token that asks for the worst lists over all of its connections.
 */
export async function timeLists(fixture: Varied, count: number): Promise<void> {
  const server = await serve(fixture);
  print(`\n${count} keys, ms`.padEnd(26), `median of ${ROUNDS}`, 'GET /health');
  const paths = pathsOf(fixture);
  const both = paths.flatMap((path) => [path, '/health']);
  const medians = await timeInRounds(server, both);
  for (const [at, path] of paths.entries())
    print(path.replace('/key/list?cursor=&', '').padEnd(25).slice(0, 25), ...medians.slice(2 * at, 2 * at + 2));
  await besideGreedy(server, fixture.productId);
  await server.stop();
}

/** Prints how long `GET /find` takes over HTTP for fifty different texts: names, addresses, ends of keys, orders, broad words. */
export async function timeFinds(count: number): Promise<void> {
  const fixture = await makeVaried(count);
  const server = await serve(fixture);
  const { key } = fixture;
  const texts = [
    ...Array.from({ length: 12 }, (_, at) => `tomer${at * 137}`),
    ...Array.from({ length: 12 }, (_, at) => `it@customer${at * 211}.ex`),
    ...Array.from({ length: 12 }, (_, at) => `A-${at * 1_000 + 1}`),
    ...[key, key.slice(-5), `…${key.slice(-5)}`, '00000', '2BBF6', 'nobody', 'müller', 'engines', 'Engine', 'ltd'],
    ...['it', 'customer', 'example', 'host'],
  ];
  const paths = texts.map((text) => `/find?${new URLSearchParams({ text })}`);
  const medians = await timeInRounds(server, paths);
  const slowest = Math.max(...medians);
  print(`\n${count} keys, ms`.padEnd(26), 'median', 'p95', 'slowest');
  print('find, 50 texts'.padEnd(25), middle(medians), quantile(medians, 0.95), slowest);
  print(`'${texts[medians.indexOf(slowest)]}'`, slowest);
  await server.stop();
}

/** The median time of each path. In rounds: none is timed only while its code is compiled, or with all memory for its own pages. */
async function timeInRounds(server: Running, paths: readonly string[]): Promise<number[]> {
  const rounds = await Array.fromAsync({ length: ROUNDS }, () =>
    Array.fromAsync(paths, (path) => time(() => server.call('GET', path))),
  );
  return paths.map((_, at) => middle(rounds.map((round) => round[at] ?? Number.NaN)));
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The first page by each filter, a page with its total, one in the middle, and numbers. */
function pathsOf({ productId, customerId, key, middle, last }: Varied): string[] {
  const queries = [
    ...['', `productId=${productId}`, `customerId=${customerId}`, `cursor=${middle}`],
    ...['active', 'unused', 'full', 'expired', 'blocked'].map((status) => `status=${status}`),
    ...['status=expiring&within=P30D', `status=expired&productId=${productId}`, 'trial=true', 'licenseType=floating'],
    ...[`createdBefore=${last}`, `expiresAfter=${last}`, 'metadata.order=A-500001'],
    ...[`text=${key}`, `text=${key.slice(-5)}`, 'text=engines'],
  ];
  const lists = queries.map((query) => `/key/list?${query.startsWith('cursor') ? '' : 'cursor=&'}${query}`);
  return [...lists, '/key/list?page=1', '/stats', `/stats?productId=${productId}`];
}

const GREEDY_MS = 8_000;

/** Lists that read as much as a list can: two filters that fit few keys together, a total, a whole page. */
const WORST = [
  '/key/list?text=a&limit=1000&page=1',
  '/key/list?trial=false&status=unused&page=1&limit=1000',
  '/key/list?status=blocked&licenseType=floating&text=c&page=1',
  '/key/list?status=expired&trial=false&page=1&limit=1000',
  '/customer?email=nobody',
];

async function besideGreedy(server: Running, productId: string): Promise<void> {
  const { data } = await server.call<{ data: { token: string } }>('POST', '/token', {
    ...{ name: 'greedy', kind: 'read-only' },
  });
  print('\nother tokens, ms', 'health', 'create-key', 'list', 'lists refused');
  print('idle', ...(await timeOthers(server, productId, GREEDY_MS / 4)));
  const load = autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: GREEDY_MS / 1_000 + 2,
    headers: { authorization: `Bearer ${data.token}` },
    requests: WORST.map((path) => ({ path })),
  });
  await sleep(1_000);
  print('beside greedy', ...(await timeOthers(server, productId, GREEDY_MS)));
  await load;
}

/** The median of each kind of request, and how many lists were refused. */
async function timeOthers(server: Running, productId: string, ms: number): Promise<number[]> {
  const until = performance.now() + ms;
  let refused = 0;
  const repeat = async (work: () => Promise<unknown>) => {
    const times: number[] = [];
    for (; performance.now() < until; await sleep(10)) times.push(await time(work));
    return middle(times);
  };
  const list = () => server.call('GET', '/key/list?cursor=').catch(() => (refused += 1));
  const medians = await Promise.all([
    repeat(() => server.call('GET', '/health')),
    repeat(() => server.call('POST', '/create-key', { productId })),
    repeat(list),
  ]);
  return [...medians, refused];
}
