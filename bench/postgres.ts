import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogSink, startServer } from '../src/server/serve.ts';
import { nameOf, recordStatements, roundTripsOf, type SentStatement } from '../test/support/statements.ts';
import { openBarePool } from './bare-pool.ts';
import { type Fixture, makeDatabase, onCluster } from './database.ts';
import { middle, print } from './figures.ts';
import { CONNECTIONS, type Running, start } from './measure.ts';

/** Connections of the bare pool: as many as two replicas have for their transactions. */
const POOL_SIZE = 20;

type BarePool = ReturnType<typeof openBarePool>;

const TURNS = 10;
const TURN_SECONDS = 2;
const WARM_UP_SECONDS = 8;

/**
 * Creating keys through two replicas, beside a pool that sends the statements of it with nothing around them; and through two
 * servers that do nothing but send these, which is what HTTP and the load leave of the machine.
 */
export async function besideBarePool(): Promise<void> {
  await onCluster(async (cluster) => {
    const fixture = await makeDatabase(1_000, cluster);
    const recorded = await statementsOf(fixture);
    print('\nPostgreSQL', 'statements', 'round trips');
    for (const [name, sent] of Object.entries(recorded)) print(name, sent.length, roundTripsOf(sent));
    const statements = recorded['create-key'] ?? [];
    const file = join(fixture.folder, 'statements.json');
    writeFileSync(file, JSON.stringify(statements));
    const pool = openBarePool(fixture.db, POOL_SIZE, statements);
    const sides = [
      ['bare servers', await start({ server: 'bare pool', fixture, replicas: 2, argv: [String(POOL_SIZE / 2), file] })],
      ['lkm serve', await start({ server: 'lkm serve', fixture, replicas: 2 })],
    ] as const;
    try {
      print('create-key by two', 'bare pool', 'servers', 'ratio', 'goal');
      for (const [name, servers] of sides) {
        const { bare, served } = await compare(pool, servers);
        print(name, middle(bare), middle(served), middle(served.map((rate, at) => rate / (bare[at] ?? 0))), 0.8);
      }
    } finally {
      for (const [, servers] of sides) await servers.stop();
      await pool.end();
      await fixture.remove();
    }
  });
}

async function compare(pool: BarePool, replicas: Running) {
  await sendFor(WARM_UP_SECONDS, pool);
  await replicas.load('create-key', WARM_UP_SECONDS);
  const [bare, served]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    bare.push(await sendFor(TURN_SECONDS, pool));
    served.push((await replicas.load('create-key', TURN_SECONDS)).rate);
  }
  return { bare, served };
}

/** What a server sends for a request of each operation, with the look-up of its token and its rate limit. */
async function statementsOf({ db, token, productId, keys: [licenseKey] }: Fixture) {
  const logTo = createLogSink(2);
  const server = await startServer({ db, host: '127.0.0.1', port: 0, logFormat: 'none', logTo });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ask = async (path: string, body?: object, more: Record<string, string> = {}) => {
    const method = body === undefined ? 'GET' : 'POST';
    const init = { method, headers: { ...headers, ...more }, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${server.url}${path}`, init);
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
  };
  const sign = { productId, licenseKey, hostId: 'host', ttl: 86_400 };
  const operations: Record<string, () => Promise<void>> = {
    'create-key': () => ask('/create-key', { productId }),
    'create-key once': () => ask('/create-key', { productId }, { 'idempotency-key': randomBytes(16).toString('hex') }),
    get: () => ask(`/key?${new URLSearchParams({ productId, licenseKey: licenseKey ?? '' })}`),
    sign: () => ask('/key/sign', sign),
  };
  try {
    const recorded: Record<string, SentStatement[]> = {};
    for (const [name, work] of Object.entries(operations)) recorded[name] = await mostOftenOf(work);
    return recorded;
  } finally {
    await server.close();
  }
}

/** Jobs send statements too, now and then: what is recorded most often has none of theirs. */
async function mostOftenOf(work: () => Promise<void>): Promise<SentStatement[]> {
  const records = await Array.fromAsync({ length: 9 }, async () => {
    const sent = await recordStatements(work);
    const commit = sent.findIndex(({ text }) => text === 'COMMIT');
    return commit === -1 ? sent : sent.slice(0, commit + 1);
  });
  const alike = Map.groupBy(records, (record) => record.map(nameOf).join());
  return [...alike.values()].reduce((most, group) => (group.length > most.length ? group : most))[0] ?? [];
}

/** Sends them over and over, as many at a time as a load has connections; returns how often in a second. */
async function sendFor(seconds: number, { sendOnce }: BarePool): Promise<number> {
  const started = performance.now();
  let done = 0;
  const worker = async () => {
    while (performance.now() - started < seconds * 1_000) {
      await sendOnce();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return (done * 1_000) / (performance.now() - started);
}
