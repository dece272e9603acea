import { globSync, mkdtempDisposableSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/ports.ts';
import { lkm, run, start, startListening } from '../process.ts';
import { fail } from '../report.ts';
import type { Round, Scenario } from '../scenario.ts';
import { makeWorld, type World } from '../world.ts';

const ROWS = 1_500;
/** How many customers the rows name, each many times. */
const CUSTOMERS = 97;
/** How often the command is killed; its server once. */
const KILLS = 3;
const MAX_STARTS = 20;
/** How often it is looked whether a command is at work, and how many milliseconds are in between. */
const [MAX_LOOKS, LOOK_MS] = [2_000, 10];
/** Requests a minute; the service refuses more with 429. */
const RATE_LIMIT = 20_000;

const createForm = {
  isForEver: true,
  words: ['keys', 'create'],
  header: 'metadata.order,maxActivations,metadata.plan,customerName,customerEmail',
  row: (n: number) => `order-${n},${(n % 5) + 1},plan ${n % 7},Customer ${n % CUSTOMERS},c${n % CUSTOMERS}@example.com`,
};

const importForm = {
  isForEver: false,
  words: ['keys', 'import', '-y'],
  header: 'key,maxActivations,customerEmail,createdAt,devices',
  row: (n: number) =>
    `ACME-${String(n).padStart(8, '0')}-FOREIGN-FORMAT,${(n % 5) + 2},c${n % CUSTOMERS}@example.com,` +
    `2020-01-01T00:00:00Z,${n % 10 === 0 ? `host-${n} spare-${n}` : ''}`,
};

/** When a command last wrote down that it is about to send, in milliseconds; 0 when none has. */
const lastWrite = (folder: string): number =>
  Math.max(
    0,
    ...globSync(join(folder, '*/runs/*.json')).map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );

async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS && !isSo(); looks += 1) await sleep(LOOK_MS);
}

/** A bulk command on a file, killed and started again until it ends by itself. */
export const bulk: Scenario = {
  name: 'bulk',
  about: 'kill -9 of a bulk command and of its server, with 429 in between, until the command ends by itself',
  engines: ['sqlite'],
  controls: [['run-per-start', 'sqlite']],
  share: 2,
  shortRounds: 2,
  begin: () => async (round) => {
    // What it makes is in no ledger.
    const world = await makeWorld('sqlite', null);
    await play(round, world).finally(world.remove);
  },
};

async function play({ run: { sabotage }, report, random, index }: Round, world: World): Promise<void> {
  const { isForEver, words, header, row } = index % 2 === 0 ? createForm : importForm;
  const lines = Array.from({ length: ROWS }, (_, at) => row(at + 1));
  using folder = mkdtempDisposableSync(join(tmpdir(), 'lkm-faults-home-'));
  const cwd = folder.path;
  writeFileSync(join(cwd, 'rows.csv'), `${[header, ...lines].join('\n')}\n`);
  const states = join(cwd, 'states');
  const home = { PATH: process.env.PATH, HOME: cwd };
  /** Each second command is one of a machine that knows of no other. */
  const stateOf = (turn: number) => ({ LKM_STATE_DIR: join(states, String(Math.floor(turn / 2))) });
  const port = String(await freePort());
  const limits = ['--json', '--log-format', 'none', '--rate-limit', String(RATE_LIMIT)];
  const startServer = () =>
    startListening([...lkm, 'serve', '--db', world.db, '--port', port, ...limits], { cwd, env: home });
  let server = await startServer();
  const env = { ...home, LKM_BASE_URL: server.url, LKM_TOKEN: world.token, LKM_PRODUCT: world.productId };
  const argv = (turn: number) => [
    ...[...lkm, ...words, '-f', 'rows.csv', '--format', 'csv', '-o', 'out.csv'],
    ...(sabotage === 'run-per-start' ? ['--run', `start-${turn}`, '--force'] : []),
  ];
  const killServer = sleep(random.between(500, 1_500)).then(async () => {
    await server.end('SIGKILL');
    server = await startServer();
  });
  let kills = 0;
  let ended: { readonly code: number | string; readonly said: string } = { code: -1, said: '' };
  for (let turn = 1; ended.code !== 0 && turn < MAX_STARTS; turn += 1) {
    const before = lastWrite(states);
    const child = start(argv(turn), { cwd, env: { ...env, ...stateOf(turn) } });
    child.stdout.resume();
    if (turn <= KILLS) {
      // However fast the machine is, the command is then at work.
      await Promise.race([child.ended, until(() => lastWrite(states) > before)]);
      await Promise.race([child.ended, sleep(random.between(0, 600))]);
      child.signal('SIGKILL');
    }
    ended = { code: await child.ended, said: child.said() };
    if (ended.code === 'SIGKILL') kills += 1;
    if (isForEver) forget(world.db);
  }
  await killServer;
  if (kills === 0) fail(report, 'wrong', 'the command ended before it could be killed');
  const out = ended.code === 0 ? readFileSync(join(cwd, 'out.csv'), 'utf8') : '';
  if (ended.code !== 0) fail(report, 'wrong', `the last run ended with ${ended.code}: ${ended.said}`);
  else if (sabotage === null) {
    const last = { ...env, LKM_STATE_DIR: join(states, 'last') };
    const again = await run([...argv(0), '-o', 'again.csv'], { cwd, env: last }).catch(String);
    if (again !== '' || readFileSync(join(cwd, 'again.csv'), 'utf8') !== out) {
      fail(report, 'wrong', `the last run, once more, gives something else: ${again}`);
    }
  }
  await server.end('SIGTERM');
  if (ended.code !== 0) return;

  const here = (...given: string[]) => run([...lkm, ...given, '--db', world.db], { cwd, env: home });
  const [names = '', ...results] = out.trimEnd().split('\n');
  const keys = results.map((line) => line.split(',')[names.split(',').indexOf('key')] ?? '');
  const there = new Set((await here('keys', 'list', '-q')).split('\n'));
  const customers = (await here('customers', 'list', '-q')).split('\n').length;
  report.acknowledged += keys.length;
  if (results.some((line, at) => !line.startsWith(`${lines[at]},`))) fail(report, 'wrong', 'rows are out of order');
  for (const key of keys) if (!there.has(key)) fail(report, 'lost', `${key} is in the results, and is not there`);
  if (keys.length !== ROWS) fail(report, 'lost', `${keys.length} of ${ROWS} rows have a result`);
  if (new Set(keys).size !== keys.length) fail(report, 'doubled', 'two rows have the same key');
  if (there.size > ROWS) fail(report, 'doubled', `${there.size} keys for ${ROWS} rows`);
  if (customers !== CUSTOMERS) fail(report, 'doubled', `${customers} customers for ${CUSTOMERS} addresses`);
}

/** Takes from the service what it remembers of requests, as a day does. */
function forget(db: string): void {
  const database = new DatabaseSync(db, { timeout: 10_000 });
  database.exec('DELETE FROM idempotency');
  database.close();
}
