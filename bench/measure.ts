import { spawn } from 'node:child_process';
import { once } from 'node:events';
import autocannon from 'autocannon';
import type { Fixture } from './database.ts';

/** What is asked of a server. */
export type Operation = 'create-key' | 'get' | 'sign';

/** The servers that are compared. */
export type Server = 'bare-server' | 'lkm-server';

const CONNECTIONS = 32;

/** Starts a server in a process of its own, loads it over 32 connections, and answers its requests per second. */
export async function measure(
  server: Server,
  operation: Operation,
  fixture: Fixture,
  seconds: number,
): Promise<number> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/${server}.ts`, fixture.db], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = line.toString().trim();
    await load(url, operation, fixture, 1);
    return await load(url, operation, fixture, seconds);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

async function load(url: string, operation: Operation, fixture: Fixture, seconds: number): Promise<number> {
  const run = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { authorization: `Bearer ${fixture.token}`, 'content-type': 'application/json' },
    requests: requestsOf(operation, fixture),
    idReplacement: operation === 'sign',
  });
  if (run.non2xx > 0 || run.errors > 0) throw new Error(`${operation}: ${run.non2xx} refused, ${run.errors} failed`);
  return run['2xx'] / run.duration;
}

function requestsOf(operation: Operation, { productId, keys }: Fixture): autocannon.Request[] {
  if (operation === 'create-key') {
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
