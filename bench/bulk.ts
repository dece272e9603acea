import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { lkm, run, startListening } from '../faults/process.ts';
import { middle } from './figures.ts';

// How fast one command issues many keys, beside what its server issues to 32 connections that do nothing else. Both are
// measured in turns, since a machine that others share is not equally fast from one second to the next.
//
//   npm run bench:bulk                 3 turns of 5 000 keys
//   npm run bench:bulk -- 20000 5      5 turns of 20 000
//
// The time of the command counts from its start to its end: reading, journal and results are in it.

const [rows = 5_000, turns = 3] = process.argv.slice(2).map(Number);
const GOAL = 0.5;
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 4;
const LOAD_SECONDS = 4;

using folder = mkdtempDisposableSync(join(tmpdir(), 'lkm-bench-bulk-'));
const env = { PATH: process.env.PATH, HOME: folder.path };
const db = ['--db', join(folder.path, 'lkm.db')];
const product = await run([...lkm, 'products', 'create', '--name', 'Engine Pro', '-q', '--create', ...db], { env });
const token = await run([...lkm, 'tokens', 'create', '--kind', 'admin', '--name', 'bench', '-q', ...db], { env });
const options = ['--port', '0', '--json', '--log-format', 'none', '--rate-limit', 'off'];
const { url, end } = await startListening([...lkm, 'serve', ...db, ...options], { env });

try {
  await load(url, WARM_UP_SECONDS);
  const ratios: number[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const loaded = await load(url, LOAD_SECONDS);
    const startedAt = performance.now();
    const argv = ['keys', 'create', '--count', String(rows), '--run', `turn-${turn}`, '--format', 'csv'];
    await run([...lkm, ...argv, '-o', join(folder.path, `${turn}.csv`)], {
      env: { ...env, LKM_BASE_URL: url, LKM_TOKEN: token, LKM_PRODUCT: product },
    });
    const issued = (rows * 1_000) / (performance.now() - startedAt);
    ratios.push(issued / loaded);
    print(
      `turn ${turn}: server ${loaded.toFixed(0)}/s, command ${issued.toFixed(0)}/s, ${(issued / loaded).toFixed(2)}`,
    );
  }
  const ratio = middle(ratios);
  print(`ratio ${ratio.toFixed(2)}, goal ${GOAL}`);
  process.exitCode = ratio < GOAL ? 1 : 0;
} finally {
  await end('SIGTERM');
}

/** Keys per second that the server issues. */
async function load(url: string, seconds: number): Promise<number> {
  const { requests, non2xx, errors } = await autocannon({
    url: `${url}/create-key`,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': '[<id>]' },
    body: JSON.stringify({ productId: product }),
    idReplacement: true,
    connections: CONNECTIONS,
    duration: seconds,
  });
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} refusals, ${errors} errors`);
  return requests.average;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
