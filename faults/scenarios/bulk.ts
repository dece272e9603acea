import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/ports.ts';
import { lkm, run, serve } from '../command.ts';
import { fail } from '../report.ts';
import { inWorlds, type Scenario, type WorldRound } from '../scenario.ts';

const ROWS = 1_500;
/** How many customers the rows name, each many times. */
const CUSTOMERS = 97;
/** How often the command is killed; its server once. */
const KILLS = 3;
const MAX_STARTS = 20;
/** Requests a minute; the service refuses more with 429. */
const RATE_LIMIT = 20_000;

const forms = [
  {
    words: ['keys', 'create'],
    header: 'reference,maxActivations,metadata.plan,customerName,customerEmail',
    row: (n: number) =>
      `order-${n},${(n % 5) + 1},plan ${n % 7},Customer ${n % CUSTOMERS},c${n % CUSTOMERS}@example.com`,
  },
  {
    words: ['keys', 'import', '-y'],
    header: 'key,maxActivations,customerEmail,createdAt,devices',
    row: (n: number) =>
      `ACME-${String(n).padStart(8, '0')}-FOREIGN-FORMAT,${(n % 5) + 2},c${n % CUSTOMERS}@example.com,` +
      `2020-01-01T00:00:00Z,${n % 10 === 0 ? `host-${n} spare-${n}` : ''}`,
  },
];

/** A bulk command on a file, killed and started again until it ends by itself. */
export const bulk: Scenario = {
  name: 'bulk',
  about: 'kill -9 of a bulk command and of its server, with 429 in between, until the command ends by itself',
  engines: ['sqlite'],
  controls: [{ sabotage: 'run-per-start', engine: 'sqlite' }],
  lacks: () => null,
  run: (run) => inWorlds(bulk, run, play),
};

async function play({ run: { sabotage }, world, folder, report, random, index }: WorldRound): Promise<void> {
  const { words, header, row } = forms[index % forms.length] ?? { words: [], header: '', row: String };
  const lines = Array.from({ length: ROWS }, (_, at) => row(at + 1));
  writeFileSync(join(folder, 'rows.csv'), `${[header, ...lines].join('\n')}\n`);
  const home = { PATH: process.env.PATH, HOME: folder, LKM_STATE_DIR: join(folder, 'state') };
  const port = await freePort();
  const startServer = () => serve(world.db, { cwd: folder, env: home, port, rateLimit: RATE_LIMIT });
  let server = await startServer();
  const env = {
    ...home,
    LKM_BASE_URL: `http://127.0.0.1:${port}`,
    LKM_TOKEN: world.token,
    LKM_PRODUCT: world.productId,
  };
  const argv = (start: number) => [
    ...[...words, '-f', 'rows.csv', '--format', 'csv', '-o', 'out.csv'],
    ...(sabotage === 'run-per-start' ? ['--run', `start-${start}`] : []),
  ];
  const killServer = sleep(random.between(500, 1_500)).then(async () => {
    server.kill('SIGKILL');
    await once(server, 'exit');
    server = await startServer();
  });
  let kills = 0;
  let ended = { code: -1, stderr: '' };
  for (let start = 1; ended.code !== 0 && start < MAX_STARTS; start += 1) {
    const child = spawn(process.execPath, [lkm, ...argv(start)], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const killing = start > KILLS ? undefined : setTimeout(() => child.kill('SIGKILL'), random.between(150, 1_000));
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    clearTimeout(killing);
    ended = { code: code ?? -1, stderr };
    if (code === null) kills += 1;
  }
  await killServer;
  server.kill('SIGTERM');
  await once(server, 'exit');
  if (kills === 0) fail(report, 'wrong', 'the command ended before it could be killed');
  if (ended.code !== 0) return fail(report, 'wrong', `the last run ended with ${ended.code}: ${ended.stderr}`);

  const here = (...given: string[]) => run([...given, '--db', world.db], folder, home);
  const out = readFileSync(join(folder, 'out.csv'), 'utf8');
  const [names = '', ...results] = out.trimEnd().split('\n');
  const keys = results.map((line) => line.split(',')[names.split(',').indexOf('key')] ?? '');
  const there = new Set((await here('keys', 'list', '-q')).split('\n'));
  const customers = (await here('customers', 'list', '-q')).split('\n').length;
  report.acknowledged += keys.length;
  if (results.some((line, at) => !line.startsWith(`${at + 1},`))) fail(report, 'wrong', 'rows are out of order');
  for (const key of keys) if (!there.has(key)) fail(report, 'lost', `${key} is in the results, and is not there`);
  if (keys.length !== ROWS) fail(report, 'lost', `${keys.length} of ${ROWS} rows have a result`);
  if (new Set(keys).size !== keys.length) fail(report, 'doubled', 'two rows have the same key');
  if (there.size > ROWS) fail(report, 'doubled', `${there.size} keys for ${ROWS} rows`);
  if (customers !== CUSTOMERS) fail(report, 'doubled', `${customers} customers for ${CUSTOMERS} addresses`);
  if (sabotage !== null) return;
  // No server runs any more: whoever sent something would fail.
  const again = await run(argv(0), folder, env).catch(String);
  if (again !== '' || readFileSync(join(folder, 'out.csv'), 'utf8') !== out) {
    fail(report, 'wrong', `the last run, once more, gives something else: ${again}`);
  }
}
