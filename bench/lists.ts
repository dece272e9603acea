import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import type { AccountId, ProductId } from '../src/contract/scalars.ts';
import { makeDatabase } from './database.ts';
import { middle, print, quantile } from './figures.ts';
import { CONNECTIONS, type Running, start } from './measure.ts';
import { fillVaried, type Varied } from './varied.ts';

const ROUNDS = 15;

/**
 * Prints how long first pages and numbers of so many keys take, and what `GET /health` takes in the same moments; then what
 * others feel beside a token that asks for the worst lists over all of its connections.
 */
export async function timeLists(count: number): Promise<void> {
  let varied: Varied | undefined;
  const fixture = await makeDatabase(0, async ({ db, accountId, productId }) => {
    varied = await fillVaried(db, accountId as AccountId, productId as ProductId, count);
  });
  const server = await start({ server: 'lkm serve', fixture });
  try {
    print(`\n${count} keys, ms`.padEnd(26), 'median of 15', 'GET /health');
    const requests = requestsOf(fixture.productId, varied as Varied);
    // In rounds: no request is timed only while its code is compiled, or with all memory for its own pages.
    const rounds = await Array.fromAsync({ length: ROUNDS }, () =>
      Array.fromAsync(Object.values(requests), async (path) => [
        await time(server, path),
        await time(server, '/health'),
      ]),
    );
    for (const [at, name] of Object.keys(requests).entries()) {
      const medianOf = (figure: 0 | 1) => middle(rounds.map((round) => round[at]?.[figure] ?? Number.NaN));
      print(name.padEnd(25), medianOf(0), medianOf(1));
    }
    await besideGreedy(server, fixture.productId);
  } finally {
    await server.stop();
    await fixture.remove();
  }
}

/** Prints how long `GET /find` takes over HTTP for fifty different texts: names, addresses, ends of keys, orders, broad words. */
export async function timeFinds(count: number): Promise<void> {
  let varied: Varied | undefined;
  const fixture = await makeDatabase(0, async ({ db, accountId, productId }) => {
    varied = await fillVaried(db, accountId as AccountId, productId as ProductId, count);
  });
  const server = await start({ server: 'lkm serve', fixture });
  try {
    const { key } = varied as Varied;
    const texts = [
      ...Array.from({ length: 12 }, (_, at) => `tomer${at * 137}`),
      ...Array.from({ length: 12 }, (_, at) => `it@customer${at * 211}.ex`),
      ...Array.from({ length: 12 }, (_, at) => `A-${at * 1_000 + 1}`),
      ...[key, key.slice(-5), `…${key.slice(-5)}`, '00000', '2BBF6', 'nobody', 'müller', 'engines', 'Engine', 'ltd'],
      ...['it', 'customer', 'example', 'host'],
    ];
    const rounds = await Array.fromAsync({ length: ROUNDS }, () =>
      Array.fromAsync(texts, (text) => time(server, `/find?${new URLSearchParams({ text })}`)),
    );
    const medians = texts.map((_, at) => middle(rounds.map((round) => round[at] ?? Number.NaN)));
    print(`\n${count} keys, ms`.padEnd(26), 'median', 'p95', 'slowest');
    print('find, 50 texts'.padEnd(25), middle(medians), quantile(medians, 0.95), Math.max(...medians));
    for (const [at, median] of medians.entries()) if (median === Math.max(...medians)) print(`'${texts[at]}'`, median);
  } finally {
    await server.stop();
    await fixture.remove();
  }
}

async function time({ call }: Running, path: string): Promise<number> {
  const started = performance.now();
  await call('GET', path);
  return performance.now() - started;
}

/** The first page by each filter, a page with its total, one in the middle, and numbers. */
function requestsOf(productId: string, { customerId, key, middle, last }: Varied): Record<string, string> {
  const filters: Record<string, Record<string, string>> = {
    none: {},
    productId: { productId },
    customerId: { customerId },
    ...Object.fromEntries(['active', 'unused', 'full', 'expired', 'blocked'].map((status) => [status, { status }])),
    expiring: { status: 'expiring', within: 'P30D' },
    trial: { trial: 'true' },
    floating: { licenseType: 'floating' },
    createdBefore: { createdBefore: last },
    expiresAfter: { expiresAfter: last },
    'text: a key': { text: key },
    'text: its end': { text: key.slice(-5) },
    'text: a word': { text: 'engines' },
    'metadata, one': { 'metadata.order': 'A-500001' },
    'product, expired': { productId, status: 'expired' },
    'in the middle': { cursor: middle },
    'with a total': { page: '1' },
  };
  const list = (query: Record<string, string>) => `/key/list?${new URLSearchParams({ cursor: '', ...query })}`;
  const lists = Object.entries(filters).map(([name, query]) => [name, list(query)]);
  return {
    ...Object.fromEntries(lists),
    'with a total': '/key/list?page=1',
    stats: '/stats',
    'stats, product': `/stats?productId=${productId}`,
  };
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
  const repeat = async (ask: () => Promise<unknown>) => {
    const times: number[] = [];
    while (performance.now() < until) {
      const started = performance.now();
      await ask();
      times.push(performance.now() - started);
      await sleep(10);
    }
    return middle(times);
  };
  const medians = await Promise.all([
    repeat(() => server.call('GET', '/health')),
    repeat(() => server.call('POST', '/create-key', { productId })),
    repeat(() =>
      server.call('GET', '/key/list?cursor=').catch(() => {
        refused += 1;
      }),
    ),
  ]);
  return [...medians, refused];
}
