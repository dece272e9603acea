import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, prepare } from '../faults/world.ts';
import type { AccountId, ProductId } from '../src/contract/scalars.ts';
import { copyDatabase } from '../src/store/copy.ts';
import { openDatabase } from '../src/store/database.ts';
import { migrate } from '../src/store/migrate.ts';
import { middle } from './figures.ts';
import { type Beside, timeBesideGreedy } from './greedy.ts';
import { type Running, start } from './measure.ts';
import { fillVaried, type Varied } from './varied.ts';

/** How long a request takes, in milliseconds, and what `GET /health` takes in the same moments. */
export interface TimedRequest {
  readonly name: string;
  readonly ms: number;
  readonly healthMs: number;
}

const ROUNDS = 15;

/** Times lists of so many keys and their statistics: on SQLite, or copied to a PostgreSQL server. */
export const timeLists = (count: number, cluster?: Cluster): Promise<readonly TimedRequest[]> =>
  withVaried(count, cluster, async (server, productId, varied) => {
    const rounds = await Array.fromAsync({ length: ROUNDS }, () => timeRound(server, requestsOf(productId, varied)));
    const middleOf = (of: 'ms' | 'healthMs', at: number) =>
      middle(rounds.map((round) => round[at]?.[of] ?? Number.NaN));
    return (rounds[0] ?? []).map(({ name }, at) => ({
      name,
      ms: middleOf('ms', at),
      healthMs: middleOf('healthMs', at),
    }));
  });

/** Times other requests beside a token that asks for the worst lists of so many keys, on SQLite. */
export const timeGreedy = (count: number): Promise<readonly [idle: Beside, beside: Beside]> =>
  withVaried(count, undefined, timeBesideGreedy);

/** Runs `work` with a server on varied keys. */
async function withVaried<T>(
  count: number,
  cluster: Cluster | undefined,
  work: (server: Running, productId: string, varied: Varied) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-bench-'));
  const file = join(folder, 'bench.db');
  const { accountId, token, productId } = await prepare(file);
  const varied = await fillVaried(file, accountId as AccountId, productId as ProductId, count);
  const db = cluster === undefined ? file : await copyTo(cluster, file);
  const remove = async () => {
    if (cluster !== undefined) await cluster.dropDatabase(db);
  };
  const fixture = { db, folder, token, productId, keys: [varied.key], remove };
  const server = await start({ server: 'lkm serve', fixture });
  try {
    return await work(server, productId, varied);
  } finally {
    await server.stop();
    await remove();
    rmSync(folder, { recursive: true });
  }
}

async function copyTo(cluster: Cluster, file: string): Promise<string> {
  const db = await cluster.createDatabase();
  const [from, to] = [await openDatabase(file), await openDatabase(db)];
  await migrate(to);
  await copyDatabase(from, to, () => {});
  await from.close();
  await to.close();
  return db;
}

/** The first page by each filter, as a walk begins it and as a page with its total; a walk in the middle; statistics. */
function requestsOf(
  productId: string,
  { customerId, key, middle, first, last }: Varied,
): [name: string, path: string][] {
  const filters: [string, Record<string, string>][] = [
    ['none', {}],
    ['productId', { productId }],
    ['customerId', { customerId }],
    ['active', { status: 'active' }],
    ['unused', { status: 'unused' }],
    ['full', { status: 'full' }],
    ['expiring', { status: 'expiring', within: 'P30D' }],
    ['expired', { status: 'expired' }],
    ['blocked', { status: 'blocked' }],
    ['trial', { trial: 'true' }],
    ['not trial', { trial: 'false' }],
    ['floating', { licenseType: 'floating' }],
    ['node-locked', { licenseType: 'node-locked' }],
    ['createdAfter', { createdAfter: first }],
    ['createdBefore', { createdBefore: last }],
    ['expiresAfter', { expiresAfter: last }],
    ['expiresBefore', { expiresBefore: last }],
    ['text: a key', { text: key }],
    ['text: its end', { text: key.slice(-5) }],
    ['text: a word', { text: 'engines' }],
    ['text: a host', { text: 'host-500002' }],
    ['metadata', { 'metadata.plan': 'pro' }],
    ['metadata, one', { 'metadata.order': 'A-500001' }],
    ['product, expired', { productId, status: 'expired' }],
  ];
  const list = (query: Record<string, string>) => `/key/list?${new URLSearchParams(query)}`;
  return [
    ...filters.map(([name, query]): [string, string] => [name, list({ ...query, cursor: '' })]),
    ...filters.map(([name, query]): [string, string] => [`${name}, total`, list({ ...query, page: '1' })]),
    ['at depth', list({ cursor: middle })],
    ['stats', '/stats'],
    ['stats, product', `/stats?productId=${productId}`],
  ];
}

/** Sends each request once. In rounds, none is timed only while its code is compiled, or with all memory for its own pages. */
async function timeRound(
  { call }: Running,
  requests: readonly (readonly [name: string, path: string])[],
): Promise<TimedRequest[]> {
  const time = async (path: string): Promise<number> => {
    const started = performance.now();
    await call('GET', path);
    return performance.now() - started;
  };
  return Array.fromAsync(requests, async ([name, path]) => ({
    name,
    ms: await time(path),
    healthMs: await time('/health'),
  }));
}
