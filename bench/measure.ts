import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import autocannon from 'autocannon';
import { startListening } from '../faults/process.ts';
import type { Fixture } from './database.ts';

/** What is asked of a server. */
export const operations = ['create-key', 'create-key once', 'get', 'sign'] as const;

export type Operation = (typeof operations)[number];

/** One side of a comparison. */
export interface Side {
  readonly server: 'bare' | 'lkm serve';
  /** A function makes one for this side alone. */
  readonly fixture: Fixture | (() => Promise<Fixture>);
  /** The folder of the checkout whose command is measured; this one unless given. */
  readonly root?: string;
}

/** A side whose server is running. */
export interface Running {
  /** From the start of the process to its first line: it listens. */
  readonly readyMs: number;
  readonly url: string;
  /** Loads it for so long over 32 connections. */
  load(operation: Operation, seconds: number): Promise<Loaded>;
  /** Sends one request. Throws when it is refused. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** The largest resident memory that the server has had, in MiB. */
  peakMemoryMib(): number;
  stop(): Promise<void>;
}

/** The result of a load. */
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

/** Starts the server of a side in a process of its own. */
export async function start(side: Side): Promise<Running> {
  const fixture = typeof side.fixture === 'function' ? await side.fixture() : side.fixture;
  const { url, pid, readyMs, end } = await startServer(side, fixture);
  return {
    readyMs,
    url,
    call: (method, path, body) => ask(`${url}${path}`, fixture.token, method, body),
    load: (operation, seconds) => load(url, operation, fixture, seconds),
    peakMemoryMib: () => peakMemoryMib(pid),
    async stop() {
      await end('SIGKILL');
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

async function startServer({ server, root = dirname(import.meta.dirname) }: Side, { db, folder }: Fixture) {
  // The built command with its checks and its log; its limits are on, but out of reach.
  const options = ['--port', '0', '--json', '--log-format', 'json', '--rate-limit', '999999999'];
  const bare = [join(import.meta.dirname, 'bare-server.ts'), db];
  const argv = server === 'bare' ? bare : [`${root}/bin/lkm.js`, 'serve', '--db', db, ...options];
  const started = performance.now();
  // The log goes nowhere, and the settings of whoever measures are left alone. Node.js is told what docs/operating.md says.
  const env = {
    ...process.env,
    NODE_OPTIONS: '--max-semi-space-size=8',
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_STATE_HOME: folder,
  };
  const child = await startListening([process.execPath, ...argv], { env, isQuiet: true });
  return { ...child, readyMs: performance.now() - started };
}

/** Linux keeps the peak of each process. */
function peakMemoryMib(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}

async function load(url: string, operation: Operation, fixture: Fixture, seconds: number): Promise<Loaded> {
  const latencies: number[] = [];
  const options = {
    url,
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: SAMPLE_MS,
    headers: { authorization: `Bearer ${fixture.token}`, 'content-type': 'application/json' },
    requests: requestsOf(operation, fixture),
    idReplacement: operation === 'sign',
  };
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const instance = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  instance.on('response', (...[, , , ms]) => void latencies.push(ms));
  const run = await promise;
  if (run.non2xx > 0 || run.errors > 0) throw new Error(`${operation}: ${run.non2xx} refused, ${run.errors} failed`);
  return { rate: run['2xx'] / run.duration, latencies };
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
