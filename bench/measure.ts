import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { startListening } from '../faults/process.ts';

export const operations = ['create-key', 'create-key once', 'get', 'sign'] as const;

export type Operation = (typeof operations)[number];

/** A SQLite database made for measuring. */
export interface Fixture {
  readonly db: string;
  /** Its own, for whatever else a server writes. */
  readonly folder: string;
  readonly token: string;
  readonly productId: string;
  /** Keys that may be looked up and signed for any number of hosts. */
  readonly keys: readonly string[];
}

/** One side of a comparison. */
export interface Side {
  /** The folder of the checkout whose command is measured. */
  readonly root: string;
  /** Makes the database, or returns one that is shared. */
  readonly fixture: () => Promise<Fixture>;
  /** Whether the bare server is measured in place of the command. */
  readonly isBare?: boolean;
}

/** A side whose server is running. */
export type Running = Awaited<ReturnType<typeof start>>;

/** How many connections one load uses. */
export const CONNECTIONS = 32;

/** Starts the server of a side in a process of its own. */
export async function start({ root, fixture: make, isBare }: Side) {
  const fixture = await make();
  const { db, folder, token } = fixture;
  // The built command with its checks and its log; its limits are on, but out of reach.
  const options = ['--port', '0', '--json', '--log-format', 'json', '--rate-limit', '999999999'];
  const bare = [join(import.meta.dirname, 'bare-server.ts'), db];
  const argv = isBare ? bare : [join(root, 'bin/lkm.js'), 'serve', '--db', db, ...options];
  // The log goes nowhere, and the settings of whoever measures are left alone. Node.js is told what docs/operating.md says.
  const folders = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
  const env = { ...process.env, ...folders, NODE_OPTIONS: '--max-semi-space-size=8' };
  const started = performance.now();
  const { url, pid, end } = await startListening([process.execPath, ...argv], { env, isQuiet: true });
  return {
    /** From the start of the process to its first line: it listens. */
    readyMs: performance.now() - started,
    url,
    /** Sends one request. Throws when it is refused. */
    async call<T>(method: string, path: string, body?: object): Promise<T> {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path} answered ${response.status} ${await response.text()}`);
      return JSON.parse(await response.text());
    },
    /** Loads it for so long: requests per second, and how long each response took, in milliseconds. */
    load: (operation: Operation, seconds: number) => load(url, operation, fixture, seconds),
    /** The largest resident memory that the server has had. */
    peakMemoryMib: () => peakMemoryMib(pid),
    stop: () => end('SIGKILL'),
  };
}

/** Linux keeps the peak of each process. */
function peakMemoryMib(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}

async function load(url: string, operation: Operation, fixture: Fixture, seconds: number) {
  const latencies: number[] = [];
  const options = {
    url,
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: 50, // how exactly it keeps to its time, in milliseconds
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
