import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import autocannon from 'autocannon';

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

const folder = mkdtempSync(join(tmpdir(), 'lkm-bench-bulk-'));
const env = { PATH: process.env.PATH, HOME: folder };
const db = ['--db', join(folder, 'lkm.db')];
const product = await run(['products', 'create', '--name', 'Engine Pro', '-q', '--create', ...db]);
const token = await run(['tokens', 'create', '--kind', 'admin', '--name', 'bench', '-q', ...db]);
const server = spawn(
  process.execPath,
  ['bin/lkm.js', 'serve', ...db, '--port', '0', '--json', '--log-format', 'none', '--rate-limit', 'off'],
  { env, stdio: ['ignore', 'pipe', 'inherit'] },
);

try {
  const [line] = await once(server.stdout, 'data');
  const { url }: { url: string } = JSON.parse(String(line));
  await load(url, WARM_UP_SECONDS);
  const ratios: number[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const loaded = await load(url, LOAD_SECONDS);
    const startedAt = performance.now();
    const argv = ['keys', 'create', '--count', String(rows), '--run', `turn-${turn}`, '--format', 'csv'];
    await run([...argv, '-o', join(folder, `${turn}.csv`)], {
      LKM_BASE_URL: url,
      LKM_TOKEN: token,
      LKM_PRODUCT: product,
    });
    const issued = (rows * 1_000) / (performance.now() - startedAt);
    ratios.push(issued / loaded);
    print(
      `turn ${turn}: server ${loaded.toFixed(0)}/s, command ${issued.toFixed(0)}/s, ${(issued / loaded).toFixed(2)}`,
    );
  }
  const middle = ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0;
  print(`ratio ${middle.toFixed(2)}, goal ${GOAL}`);
  process.exitCode = middle < GOAL ? 1 : 0;
} finally {
  const gone = server.exitCode === null ? once(server, 'exit') : Promise.resolve();
  server.kill('SIGTERM');
  await gone;
  rmSync(folder, { recursive: true });
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

async function run(argv: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, ['bin/lkm.js', ...argv], {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${argv.slice(0, 2).join(' ')} ended with ${code}: ${stderr.slice(-500)}`);
  return stdout.trim();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
