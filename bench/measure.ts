import { randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { startListening } from '../faults/process.ts';
import type { Fixture } from './database.ts';
import { sum } from './figures.ts';

/** What is asked of a server. */
export type Operation = 'create-key' | 'create-key once' | 'get' | 'sign';

/** The servers that are compared. */
export type Server = 'bare' | 'bare pool' | 'lkm serve';

/** One side of a comparison. */
export interface Side {
  readonly server: Server;
  /** A function makes one for this side alone. */
  readonly fixture: Fixture | (() => Promise<Fixture>);
  /** The folder of the checkout whose command is measured; this one unless given. */
  readonly root?: string;
  /** What a bare one gets besides its database. */
  readonly argv?: readonly string[];
  /** How many servers share the database; they share the connections too. */
  readonly replicas?: number;
  /** How many servers with a copy of the database each; they share the connections. */
  readonly copies?: number;
  /** Where its events are sent: a webhook for each address. */
  readonly receivers?: readonly string[];
}

/** A side whose servers are running. */
export interface Running {
  /** From the start of the slowest process to its first line: it listens. */
  readonly readyMs: number;
  /** The address of the first of them. */
  readonly url: string;
  /** Loads them for so long over 32 connections in all. `rate`: with no more requests per second than so many. */
  load(operation: Operation, seconds: number, rate?: number): Promise<Loaded>;
  /** Asks the first of them for something. Throws when it refuses. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** The largest resident memory that a server has had, in MiB. */
  peakMemoryMib(): number;
  stop(): Promise<void>;
}

/** What a load has got. */
export interface Loaded {
  /** Requests per second. */
  readonly rate: number;
  /** How long each response took, in milliseconds. */
  readonly latencies: readonly number[];
}

/** Of a load, in all. */
export const CONNECTIONS = 32;

/** How exactly the load keeps to its time. */
const SAMPLE_MS = 50;

/** Starts the servers of a side in processes of their own. */
export async function start(side: Side): Promise<Running> {
  const fixture = typeof side.fixture === 'function' ? await side.fixture() : side.fixture;
  const databases = Array.from({ length: side.copies ?? 0 }, (_, at) => `${fixture.db}-${at}`);
  for (const copy of databases) copyFileSync(fixture.db, copy);
  const fixtures =
    databases.length > 0 ? databases.map((db) => ({ ...fixture, db })) : Array(side.replicas ?? 1).fill(fixture);
  const servers = await Promise.all(fixtures.map((each: Fixture) => startServer(side, each)));
  const urls = servers.map((server) => server.url);
  const [url = ''] = urls;
  const call = <T>(method: string, path: string, body?: object) => ask<T>(`${url}${path}`, fixture.token, method, body);
  for (const receiver of side.receivers ?? []) await call('POST', '/webhook', { url: receiver });
  return {
    readyMs: Math.max(...servers.map(({ readyMs }) => readyMs)),
    url,
    call,
    async load(operation, seconds, rate) {
      const reached = await load(urls, operation, fixture, seconds, rate);
      // Else the other side of a comparison would share the machine with what is still to be sent.
      if (side.receivers !== undefined) await settle({ call });
      return reached;
    },
    peakMemoryMib: () => Math.max(...servers.map(({ pid }) => peakMemoryMib(pid))),
    async stop() {
      await Promise.all(servers.map((server) => server.end('SIGKILL')));
      if (typeof side.fixture === 'function') await fixture.remove();
    },
  };
}

async function ask<T>(url: string, token: string, method: string, body?: object): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status} ${await response.text()}`);
  return JSON.parse(await response.text());
}

async function startServer(side: Side, fixture: Fixture) {
  const { server, root = dirname(import.meta.dirname), receivers, argv: given = [] } = side;
  // The built command with its checks and its log; its limits are on, but out of reach.
  const options = ['--port', '0', '--json', '--log-format', 'json', '--rate-limit', '999999999'];
  const served = ['serve', '--db', fixture.db, ...options];
  // An earlier version does not know it.
  if (receivers !== undefined) served.push('--allow-private-webhooks');
  const bare = { bare: 'bare-server.ts', 'bare pool': 'bare-pool-server.ts', 'lkm serve': null }[server];
  const argv =
    bare === null ? [`${root}/bin/lkm.js`, ...served] : [join(import.meta.dirname, bare), fixture.db, ...given];
  const started = performance.now();
  // The log goes nowhere, and the settings of whoever measures are left alone. Node.js is told what docs/operating.md says.
  const env = {
    ...process.env,
    NODE_OPTIONS: '--max-semi-space-size=8',
    HOME: fixture.folder,
    XDG_CONFIG_HOME: fixture.folder,
    XDG_STATE_HOME: fixture.folder,
  };
  const child = await startListening([process.execPath, ...argv], { env, isQuiet: true });
  return { ...child, readyMs: performance.now() - started };
}

/** Linux keeps the peak of each process. */
function peakMemoryMib(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}

async function load(
  urls: readonly string[],
  operation: Operation,
  fixture: Fixture,
  seconds: number,
  rate?: number,
): Promise<Loaded> {
  const latencies: number[] = [];
  const rates = urls.map(async (url) => {
    const options = {
      url,
      connections: CONNECTIONS / urls.length,
      duration: seconds,
      sampleInt: SAMPLE_MS,
      ...(rate !== undefined && { overallRate: rate / urls.length }),
      headers: { authorization: `Bearer ${fixture.token}`, 'content-type': 'application/json' },
      requests: requestsOf(operation, fixture),
      idReplacement: operation === 'sign',
    };
    const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
    autocannon(options, (error, result) => (error ? reject(error) : resolve(result))).on(
      'response',
      (...[, , , ms]) => {
        latencies.push(ms);
      },
    );
    const run = await promise;
    if (run.non2xx > 0 || run.errors > 0) throw new Error(`${operation}: ${run.non2xx} refused, ${run.errors} failed`);
    return run['2xx'] / run.duration;
  });
  return { rate: sum(await Promise.all(rates)), latencies };
}

function requestsOf(operation: Operation, { productId, keys }: Fixture): autocannon.Request[] {
  const create: autocannon.Request = { method: 'POST', path: '/create-key', body: JSON.stringify({ productId }) };
  if (operation === 'create-key') return [create];
  if (operation === 'create-key once') return [{ ...create, setupRequest: withNewKey }];
  if (operation === 'get') {
    return keys.map((key) => ({ method: 'GET', path: `/key?productId=${productId}&licenseKey=${key}` }));
  }
  return keys.map((licenseKey) => ({
    method: 'POST',
    path: '/key/sign',
    body: JSON.stringify({ productId, licenseKey, hostId: 'host-[<id>]', ttl: 86_400 }),
  }));
}

/** A key as clients make it. The ids of the load generator follow each other, which no client's keys do. */
const withNewKey = (request: autocannon.Request): autocannon.Request => ({
  ...request,
  headers: { ...request.headers, 'idempotency-key': randomUUID() },
});

/** Waits until everything that was recorded has been sent; returns how many events that are. */
export async function settle(server: Pick<Running, 'call'>): Promise<number> {
  for (let before = -1; ; await sleep(POLL_MS)) {
    const { meta } = await server.call<{ meta: { last: number } }>('GET', `/event/list?after=${BEHIND_ALL}`);
    const webhooks = await listWebhooks(server);
    if (meta.last === before && webhooks.every(({ lastSeq }) => lastSeq >= meta.last)) return meta.last;
    before = meta.last;
  }
}

/** How often it is looked whether all was sent, in milliseconds. */
const POLL_MS = 100;

/** No event has this number: the list is empty, and says which is the last one. */
const BEHIND_ALL = 999_999_999;

/** The webhooks of a server, and how far each has come. */
export async function listWebhooks(
  server: Pick<Running, 'call'>,
): Promise<readonly { readonly id: string; readonly lastSeq: number }[]> {
  return (await server.call<{ data: { id: string; lastSeq: number }[] }>('GET', '/webhook')).data;
}
