import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

// How much memory a bulk command needs at its peak (VmHWM), for files of different lengths: reading and checking alone, as
// with --dry-run, and writing down and sending, to a server that refuses all (of a million rows) or issues at once.
//
//   npm run bench:bulk-memory                             this checkout
//   npm run bench:bulk-memory -- /path/to/bin/lkm.js …    also other builds, in turns; prints ratios to the last one
//
// Linux only: the peak is read from /proc while the command runs.

const builds = ['bin/lkm.js', ...process.argv.slice(2)].map((path) => resolve(path));
const POLL_MS = 10;
const folder = mkdtempSync(join(tmpdir(), 'lkm-bench-memory-'));
const PRODUCT = `prod_${'0'.repeat(26)}`;

interface Case {
  readonly name: string;
  readonly rows: number;
  readonly more: readonly string[];
  /** What the server answers. */
  readonly status: 200 | 401;
}

const cases: readonly Case[] = [
  { name: 'read 100 000', rows: 100_000, more: ['--dry-run'], status: 200 },
  { name: 'read 1 000 000', rows: 1_000_000, more: ['--dry-run'], status: 200 },
  { name: 'write down 1 000 000', rows: 1_000_000, more: [], status: 401 },
  { name: 'issue 20 000', rows: 20_000, more: [], status: 200 },
];

let status = 200;
let issued = 0;
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? JSON.stringify({ code: 0, key: keyOf(++issued) }) : '{"message":"no","code":1}');
  });
});

try {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  for (const { name, rows, more, status: answered } of cases) {
    status = answered;
    const file = join(folder, `${rows}.csv`);
    await writeOrders(file, rows);
    const peaks: number[] = [];
    for (const build of builds) peaks.push(await peakOf(build, ['keys', 'create', '-f', file, ...more]));
    const last = peaks.at(-1) ?? 1;
    print(
      `${name} rows: ${peaks.map((peak) => `${(peak / 1_024).toFixed(0)} MiB (${(peak / last).toFixed(2)})`).join(', ')}`,
    );
  }
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
}

/** A file as a shop exports it: a reference, limits, an end, a plan. */
async function writeOrders(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  file.write('reference,maxActivations,expires,metadata.plan\n');
  for (let row = 1; row <= rows; row++) {
    if (!file.write(`order-${row},3,2035-12-31,professional\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

/** The peak of a command's memory, in KiB. */
async function peakOf(build: string, argv: readonly string[]): Promise<number> {
  const state = mkdtempSync(join(folder, 'state-'));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const env = {
    PATH: process.env.PATH,
    HOME: state,
    LKM_BASE_URL: `http://127.0.0.1:${port}`,
    LKM_TOKEN: 'lkm_bench',
    LKM_PRODUCT: PRODUCT,
  };
  const output = argv.includes('--dry-run') ? [] : ['--format', 'csv', '-o', join(state, 'keys.csv')];
  const child = spawn(process.execPath, [build, ...argv, ...output], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, readPeak(child.pid ?? 0));
  }, POLL_MS);
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  clearInterval(timer);
  rmSync(state, { recursive: true });
  const expected = status === 401 ? 4 : 0;
  if (code !== expected) throw new Error(`ended with ${code}: ${said.slice(-500)}`);
  return peak;
}

function readPeak(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Five sections of five, as a server makes them. */
function keyOf(number: number): string {
  const digits = String(number).padStart(25, '0');
  return (digits.match(/.{5}/g) ?? []).join('-');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
