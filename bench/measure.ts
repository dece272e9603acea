import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import type { Fixture } from './database.ts';

/** What is asked of a server. */
export type Operation = 'create-key' | 'create-key once' | 'get' | 'sign';

/** The servers that are compared. */
export type Server = 'bare-server' | 'lkm-server' | 'single-commit-server';

const CONNECTIONS = 32;

/** What one measurement says. */
export interface Measured {
  /** Requests per second. */
  readonly rate: number;
  /** The largest resident memory that the server had, in MiB. */
  readonly memoryMib: number;
  /** From the start of the process to its first line: it listens. */
  readonly readyMs: number;
}

/** Makes every sync to the disk take 2 ms longer, as on a slower one. */
const SLOW_DISK = ['strace', '-f', '-qq', '-o', '/dev/null', '--seccomp-bpf', '-e', 'trace=fdatasync,fsync'];
const DELAY = ['-e', 'inject=fdatasync,fsync:delay_exit=2000'];

/** Starts a server in a process of its own, loads it over 32 connections, and measures. */
export async function measure(
  server: Server,
  operation: Operation,
  fixture: Fixture,
  { seconds, slowDisk = false }: { seconds: number; slowDisk?: boolean },
): Promise<Measured> {
  const [program = '', ...args] = [
    ...(slowDisk ? [...SLOW_DISK, ...DELAY] : []),
    process.execPath,
    `${import.meta.dirname}/${server}.ts`,
    fixture.db,
  ];
  const started = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const readyMs = performance.now() - started;
    const { url, pid } = JSON.parse(line.toString()) as { url: string; pid: number };
    try {
      await load(url, operation, fixture, 1);
      const rate = await load(url, operation, fixture, seconds);
      return { rate, memoryMib: peakMemoryMib(pid), readyMs };
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  } finally {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

/** Linux keeps the peak of each process. */
function peakMemoryMib(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}

async function load(url: string, operation: Operation, fixture: Fixture, seconds: number): Promise<number> {
  const run = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers: {
      authorization: `Bearer ${fixture.token}`,
      'content-type': 'application/json',
      ...(operation === 'create-key once' ? { 'idempotency-key': '[<id>]' } : {}),
    },
    requests: requestsOf(operation, fixture),
    idReplacement: operation === 'sign' || operation === 'create-key once',
  });
  if (run.non2xx > 0 || run.errors > 0) throw new Error(`${operation}: ${run.non2xx} refused, ${run.errors} failed`);
  return run['2xx'] / run.duration;
}

function requestsOf(operation: Operation, { productId, keys }: Fixture): autocannon.Request[] {
  if (operation === 'create-key' || operation === 'create-key once') {
    return [{ method: 'POST', path: '/create-key', body: JSON.stringify({ productId }) }];
  }
  if (operation === 'get') {
    return keys.map((key) => ({ method: 'GET', path: `/key?productId=${productId}&licenseKey=${key}` }));
  }
  return keys.map((licenseKey) => ({
    method: 'POST',
    path: '/key/sign',
    body: JSON.stringify({ productId, licenseKey, hostId: 'host-[<id>]', ttl: 86_400 }),
  }));
}
