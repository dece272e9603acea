import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/ports.ts';
import { lkm, run, serve } from '../command.ts';
import type { Random } from '../random.ts';

/** Settings of a run. */
export interface BulkPlan {
  readonly command: 'keys create' | 'keys import';
  readonly rows: number;
  /** How often the command is killed. */
  readonly kills: number;
  /** How often its server is killed. */
  readonly serverKills: number;
  /** Requests a minute; the service refuses more with 429. */
  readonly rateLimit: number;
  readonly random: Random;
  readonly say: (line: string) => void;
}

/** Result of a run. */
export interface BulkOutcome {
  readonly runs: number;
  readonly kills: number;
  readonly serverKills: number;
  readonly ms: number;
  /** Everything that is not as it should be. */
  readonly wrong: readonly string[];
}

/** Runs the built command on a file, kills it and its server at random moments, and checks what is there in the end. */
export async function runBulkPlan(plan: BulkPlan): Promise<BulkOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-bulk-'));
  try {
    return await play(plan, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(plan: BulkPlan, folder: string): Promise<BulkOutcome> {
  const { rows, random, say } = plan;
  const home = { PATH: process.env.PATH, HOME: folder, LKM_STATE_DIR: join(folder, 'state') };
  const alone = (...argv: string[]) => run([...argv, '--db', 'lkm.db'], folder, home);
  const product = await alone('products', 'create', '--name', 'Engine Pro', '-q', '--create');
  const token = await alone('tokens', 'create', '--kind', 'admin', '--name', 'bulk', '-q');
  await writeRows(plan, join(folder, 'rows.csv'));
  const port = await freePort();
  const env = { ...home, LKM_BASE_URL: `http://127.0.0.1:${port}`, LKM_TOKEN: token, LKM_PRODUCT: product };
  const serveAgain = () => serve('lkm.db', { cwd: folder, env: home, port, rateLimit: plan.rateLimit });
  let server = await serveAgain();
  const count = { kills: 0, serverKills: 0 };
  let isOver = false;
  const startedAt = performance.now();

  async function killServers(): Promise<void> {
    while (count.serverKills < plan.serverKills && !isOver) {
      await sleep(random.between(800, 2_000));
      if (isOver) return;
      server.kill('SIGKILL');
      await once(server, 'exit');
      server = await serveAgain();
      count.serverKills += 1;
      say('killed the server');
    }
  }

  const words = plan.command.split(' ');
  const argv = [
    ...words,
    '-f',
    'rows.csv',
    '--format',
    'csv',
    '-o',
    'out.csv',
    ...(words[1] === 'import' ? ['-y'] : []),
  ];
  const servers = killServers();
  let runs = 0;
  let ended = { code: -1, stderr: '' };
  while (ended.code !== 0 && runs < plan.kills + plan.serverKills + 20) {
    runs += 1;
    const child = spawn(process.execPath, [lkm, ...argv], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
    const isKilled = count.kills < plan.kills;
    const timer = isKilled ? setTimeout(() => child.kill('SIGKILL'), random.between(150, 1_650)) : undefined;
    const [stderr, [code]] = await Promise.all([text(child.stderr ?? []), once(child, 'exit')]);
    clearTimeout(timer);
    ended = { code: code ?? -1, stderr };
    if (code === null) count.kills += 1;
    say(`run ${runs}: ${code === null ? 'killed' : `ended with ${code}: ${stderr.trim()}`}`);
  }
  isOver = true;
  const ms = performance.now() - startedAt;
  await servers;
  server.kill('SIGTERM');
  await once(server, 'exit');
  const wrong = await findWrong(plan, { folder, env, argv, ended, alone, rows });
  if (plan.kills > 0 && count.kills === 0) wrong.push('the command was never killed: give more rows');
  return { runs, ...count, ms, wrong };
}

interface Ended {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly argv: readonly string[];
  readonly ended: { readonly code: number; readonly stderr: string };
  readonly rows: number;
  alone(...argv: string[]): Promise<string>;
}

async function findWrong(plan: BulkPlan, { folder, env, argv, ended, rows, alone }: Ended): Promise<string[]> {
  if (ended.code !== 0) return [`the last run ended with ${ended.code}: ${ended.stderr}`];
  const wrong: string[] = [];
  const out = readFileSync(join(folder, 'out.csv'), 'utf8');
  const [header = '', ...lines] = out.trimEnd().split('\n');
  const column = header.split(',').indexOf('key');
  const keys = lines.map((line) => line.split(',')[column] ?? '');
  if (lines.some((line, at) => !line.startsWith(`${at + 1},`))) wrong.push('the rows of the file are not 1, 2, 3, …');
  if (lines.length !== rows) wrong.push(`the file has ${lines.length} rows`);
  if (new Set(keys).size !== rows) wrong.push(`the file has ${new Set(keys).size} different keys`);
  const there = (await alone('keys', 'list', '-q')).split('\n');
  if (there.length !== rows) wrong.push(`the service has ${there.length} keys`);
  const customers = (await alone('customers', 'list', '-q')).split('\n').length;
  if (customers !== Math.min(CUSTOMERS, rows)) wrong.push(`the service has ${customers} customers`);
  const known = new Set(there);
  const lost = keys.filter((key) => !known.has(key));
  if (lost.length > 0) wrong.push(`${lost.length} keys of the file are not there`);
  // No server runs any more: whoever sent something would fail.
  const again = await run(argv, folder, env).catch((error: unknown) => String(error));
  if (again !== '') wrong.push(`the last run, once more: ${again}`);
  if (readFileSync(join(folder, 'out.csv'), 'utf8') !== out) wrong.push('the last run, once more, writes another file');
  if (plan.command === 'keys import') wrong.push(...(await findMoved(folder, env, alone)));
  return wrong;
}

/** Whether an export comes back from an empty database byte for byte. */
async function findMoved(folder: string, env: NodeJS.ProcessEnv, alone: Ended['alone']): Promise<string[]> {
  const other = (...argv: string[]) =>
    run([...argv, '--db', 'other.db'], folder, { ...env, LKM_BASE_URL: '', LKM_TOKEN: '' });
  await alone('keys', 'export', '-o', 'before.csv');
  await other('products', 'create', '--name', 'Engine Pro', '--id', env.LKM_PRODUCT ?? '', '--create');
  await other('keys', 'import', '-f', 'before.csv', '-y', '-o', 'moved.csv');
  await other('keys', 'export', '-o', 'after.csv');
  const same = readFileSync(join(folder, 'before.csv')).equals(readFileSync(join(folder, 'after.csv')));
  return same ? [] : ['the export is another one after moving'];
}

/** How many customers the rows name, each many times. */
const CUSTOMERS = 97;

async function writeRows({ command, rows }: BulkPlan, path: string): Promise<void> {
  if (existsSync(path)) throw new Error(`${path} is there`);
  const file = createWriteStream(path);
  const isImport = command === 'keys import';
  file.write(
    isImport
      ? 'key,maxActivations,customerEmail,createdAt,devices\n'
      : 'reference,maxActivations,metadata.plan,customerName,customerEmail\n',
  );
  for (let row = 1; row <= rows; row++) {
    const number = String(row).padStart(8, '0');
    const devices = row % 10 === 0 ? `host-${row} spare-${row}` : '';
    file.write(
      isImport
        ? `ACME-${number}-FOREIGN-FORMAT,${(row % 5) + 2},c${row % CUSTOMERS}@example.com,2020-01-01T00:00:00Z,${devices}\n`
        : `order-${number},${(row % 5) + 1},plan ${row % 7},Customer ${row % CUSTOMERS},c${row % CUSTOMERS}@example.com\n`,
    );
  }
  file.end();
  await finished(file);
}
